import { runWorkerHost } from '../../src/threads/worker-host.js'
import { toyRoles } from './toy-roles.js'

runWorkerHost({
  roles: Object.fromEntries(Object.entries(toyRoles).map(([name, factory]) => [name, () => Promise.resolve(factory)])),
})
