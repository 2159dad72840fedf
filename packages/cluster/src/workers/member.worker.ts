/** What every worker thread runs, bundled by `scripts/bundle.mjs`: hosts members, evaluating the code of their roles only. */
import { runWorkerHost } from '@shardlab/runtime'
import { lazyRoles } from '../roles.js'

export { loadRoles } from '../roles.js'

export function start(): void {
  runWorkerHost({ roles: lazyRoles })
}
