// Package runnertest holds every runner to one behaviour, and has a runner that runs nothing.
//
// [TestRunner] is the conformance suite. [Fake] lays out and captures like a real runner, but what happens
// between is a function of the test.
package runnertest
