/** Entry of every worker thread: hosts members, loading the code of their roles only. */
import { runWorkerHost } from '@shardlab/runtime'
import { lazyRoles } from '../roles.js'

runWorkerHost({ roles: lazyRoles })
