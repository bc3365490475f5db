// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "./IERC20.sol";
import {Shares} from "./Shares.sol";
import {Strategy} from "./Strategy.sol";

/// A vault in the manner of ERC-4626: it takes an asset, gives shares, and lends the asset to a strategy.
contract Vault is Shares {
    IERC20 public immutable asset;
    address public owner;
    Strategy public strategy;
    uint256 public feeBps;
    uint256 public lent;

    uint256 private constant BPS = 10_000;

    event Deposit(address indexed caller, address indexed receiver, uint256 assets, uint256 shares);
    event Withdraw(address indexed caller, address indexed receiver, address indexed from, uint256 assets, uint256 shares);
    event StrategyChanged(Strategy strategy);

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor(IERC20 asset_) Shares("Vault share", "vSHARE") {
        asset = asset_;
        owner = msg.sender;
    }

    // ---- accounting --------------------------------------------------------

    function totalAssets() public view returns (uint256) {
        return asset.balanceOf(address(this)) + lent;
    }

    function convertToShares(uint256 assets) public view returns (uint256) {
        return totalSupply == 0 ? assets : mulDivDown(assets, totalSupply, totalAssets());
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        return totalSupply == 0 ? shares : mulDivDown(shares, totalAssets(), totalSupply);
    }

    function previewDeposit(uint256 assets) public view returns (uint256) {
        return convertToShares(assets);
    }

    function previewMint(uint256 shares) public view returns (uint256) {
        return totalSupply == 0 ? shares : mulDivUp(shares, totalAssets(), totalSupply);
    }

    function previewWithdraw(uint256 assets) public view returns (uint256) {
        return totalSupply == 0 ? assets : mulDivDown(assets, totalSupply, totalAssets());
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return convertToAssets(shares);
    }

    // ---- in and out --------------------------------------------------------

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        shares = previewDeposit(assets);
        require(shares > 0, "no shares");
        require(asset.transferFrom(msg.sender, address(this), assets), "transfer failed");
        _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address from) external returns (uint256 shares) {
        shares = previewWithdraw(assets);
        if (msg.sender != from) {
            _spendAllowance(from, msg.sender, shares);
        }
        require(asset.transfer(receiver, assets - fee(assets)), "transfer failed");
        _burn(from, shares);
        emit Withdraw(msg.sender, receiver, from, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address from) external returns (uint256 assets) {
        assets = previewRedeem(shares);
        if (msg.sender != from) {
            _spendAllowance(from, msg.sender, shares);
        }
        _burn(from, shares);
        require(asset.transfer(receiver, assets - fee(assets)), "transfer failed");
        emit Withdraw(msg.sender, receiver, from, assets, shares);
    }

    function fee(uint256 assets) public view returns (uint256) {
        return assets / BPS * feeBps;
    }

    // ---- administration ----------------------------------------------------

    function setStrategy(Strategy strategy_) external onlyOwner {
        require(address(strategy_) != address(0), "zero strategy");
        strategy = strategy_;
        emit StrategyChanged(strategy_);
    }

    function setFee(uint256 feeBps_) external {
        require(feeBps_ <= BPS / 10, "fee too high");
        feeBps = feeBps_;
    }

    function transferOwnership(address owner_) external onlyOwner {
        owner = owner_;
    }

    function lend(uint256 amount) external onlyOwner {
        lent += amount;
        asset.approve(address(strategy), amount);
        strategy.take(amount);
    }

    function recall(uint256 amount) external onlyOwner {
        strategy.give(amount);
        lent -= amount;
    }

    // ---- arithmetic --------------------------------------------------------

    function mulDivDown(uint256 x, uint256 y, uint256 d) internal pure returns (uint256) {
        return (x * y) / d;
    }

    function mulDivUp(uint256 x, uint256 y, uint256 d) internal pure returns (uint256) {
        return (x * y + d - 1) / d;
    }
}
