/** Where the workspace is, in sandboxes that have a file system of their own. */
export const WORKSPACE = "/workspace"
