import { runWorkerHost } from '../../src/threads/worker-host.js'
import { toyLoaders } from './toy-roles.js'

runWorkerHost({ roles: toyLoaders })
