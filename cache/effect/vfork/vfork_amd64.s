#include "go_asm.h"
#include "textflag.h"

#define CLONE3 435
#define EXIT_GROUP 231
#define ESRCH 3
#define FIRST_ERROR 0xfffffffffffff001

// func born(l *list)
TEXT ·born(SB),NOSPLIT,$0-8
	MOVQ	l+0(FP), BX
	LEAQ	list_clone(BX), DI
	MOVQ	$cloneArgs__size, SI
	MOVQ	$CLONE3, AX
	SYSCALL
	TESTQ	AX, AX
	JZ	process
	CMPQ	AX, $FIRST_ERROR
	JCC	failed
	MOVQ	AX, list_pid(BX)
	RET
failed:
	NEGQ	AX
	MOVQ	AX, list_errno(BX)
	RET

	// The process is here, in the memory of its parent: nothing may be written but errno.
process:
	MOVQ	list_n(BX), R12
	LEAQ	list_calls(BX), R13
next:
	MOVQ	call_number(R13), AX
	MOVQ	call_args+0(R13), DI
	MOVQ	call_args+8(R13), SI
	MOVQ	call_args+16(R13), DX
	MOVQ	call_args+24(R13), R10
	SYSCALL
	CMPQ	call_expect(R13), $const_anything
	JEQ	good
	CMPQ	call_expect(R13), $const_thisParent
	JEQ	parent
	CMPQ	AX, $FIRST_ERROR
	JCS	good
	NEGQ	AX
	JMP	bad
parent:
	CMPQ	AX, list_parent(BX)
	JEQ	good
	MOVQ	$ESRCH, AX
bad:
	MOVQ	AX, list_errno(BX)
end:
	MOVQ	$253, DI
	MOVQ	$EXIT_GROUP, AX
	SYSCALL
	JMP	end
good:
	ADDQ	$call__size, R13
	DECQ	R12
	JNZ	next
	JMP	end
