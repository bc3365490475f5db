// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "./IERC20.sol";

interface IMarket {
    function supply(uint256 amount) external;
    function redeem(uint256 amount) external;
}

/// Lends the vault's asset to a market and shares the yield among reward receivers.
contract Strategy {
    IERC20 public immutable asset;
    IMarket public immutable market;
    address public immutable vault;

    address[] public receivers;
    mapping(address => uint256) public rewards;
    uint256 public supplied;
    uint256 public buffer;

    event Harvest(uint256 amount);

    modifier onlyVault() {
        require(msg.sender == vault, "not the vault");
        _;
    }

    constructor(IERC20 asset_, IMarket market_, address vault_) {
        asset = asset_;
        market = market_;
        vault = vault_;
    }

    function take(uint256 amount) external onlyVault {
        supplied += amount;
        asset.transferFrom(vault, address(this), amount);
        asset.approve(address(market), amount);
        market.supply(amount);
    }

    function give(uint256 amount) external onlyVault {
        supplied -= amount;
        market.redeem(amount);
        require(asset.transfer(vault, amount), "transfer failed");
    }

    function setBuffer(uint256 buffer_) external {
        _setBuffer(buffer_);
    }

    function _setBuffer(uint256 buffer_) internal {
        require(buffer_ <= supplied, "buffer too large");
        buffer = buffer_;
    }

    function addReceiver(address receiver) external onlyVault {
        require(receiver != address(0), "zero receiver");
        receivers.push(receiver);
    }

    function harvest(uint256 amount) external {
        uint256 share = amount / receivers.length;
        for (uint256 i = 0; i < receivers.length; i++) {
            rewards[receivers[i]] += share;
        }
        emit Harvest(amount);
    }

    function claim() external {
        uint256 amount = rewards[msg.sender];
        require(amount > 0, "nothing to claim");
        (bool ok, ) = msg.sender.call{value: amount}("");
        require(ok, "send failed");
        rewards[msg.sender] = 0;
    }

    receive() external payable {}
}
