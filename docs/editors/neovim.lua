-- Campaigns of ufbuild in Neovim 0.7 or later: one server for each campaign.
local servers = {}

local function attach(buffer, file)
  local main = vim.fn.findfile('campaign.hcl', vim.fn.fnamemodify(file, ':p:h') .. ';')
  if main == '' then
    return
  end
  local root = vim.fn.fnamemodify(main, ':p:h')
  if not servers[root] then
    servers[root] = vim.lsp.start_client({
      name = 'ufbuild',
      cmd = { 'ufbuild', 'lsp' },
      root_dir = root,
      on_exit = function()
        servers[root] = nil
      end,
    })
  end
  vim.lsp.buf_attach_client(buffer, servers[root])
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  pattern = { '*.hcl', '*.md' },
  callback = function(event)
    attach(event.buf, event.match)
  end,
})
