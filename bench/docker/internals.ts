// The built code, as users run it; the package keeps these to itself, so they are reached by their files.
export {
  type ContainerSpec,
  containerSpec,
} from "../../packages/glovebox/dist/executors/docker/container-spec.js"
export { findEngine } from "../../packages/glovebox/dist/executors/docker/engine-address.js"
export { EngineStream } from "../../packages/glovebox/dist/executors/docker/engine-stream.js"
export { Engine, type EngineImage } from "../../packages/glovebox/dist/executors/docker/engine.js"
export { newOwner, ownerLabels } from "../../packages/glovebox/dist/executors/docker/ownership.js"
export type { EngineInfo } from "../../packages/glovebox/dist/executors/docker/engine-info.js"
export { WORKSPACE } from "../../packages/glovebox/dist/executors/sandbox/workspace-folder.js"
