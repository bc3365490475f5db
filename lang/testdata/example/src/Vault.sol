// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Vault {}
