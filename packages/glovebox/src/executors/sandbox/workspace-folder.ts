export { WORKSPACE } from "../../policy/workspace-folder.ts"
