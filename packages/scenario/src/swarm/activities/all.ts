import type { ActivityName } from '../types.js'
import type { SwarmWorld } from '../world.js'
import type { Activity } from './activity.js'
import { Failovers } from './failovers.js'
import { Membership } from './membership.js'
import { Placement } from './placement.js'
import { Registers } from './registers.js'
import { Resharding } from './resharding.js'
import { ShortLived } from './short-lived.js'
import { Streams } from './streams.js'
import { Transactions } from './transactions.js'
import { RivalPrimaries } from './rival-primaries.js'
import { UniqueKeys } from './unique-keys.js'
import { UniqueLibrary } from './unique-library.js'
import { Users } from './users.js'
import { MaintenanceCommands } from './maintenance.js'

const makers: Readonly<Record<ActivityName, (world: SwarmWorld) => Activity>> = {
  placement: (world) => new Placement(world),
  'short-lived': (world) => new ShortLived(world),
  'unique-keys': (world) => new UniqueKeys(world),
  membership: (world) => new Membership(world),
  resharding: (world) => new Resharding(world),
  maintenance: (world) => new MaintenanceCommands(world),
  'unique-library': (world) => new UniqueLibrary(world),
  registers: (world) => new Registers(world),
  failovers: (world) => new Failovers(world),
  streams: (world) => new Streams(world),
  'rival-primaries': (world) => new RivalPrimaries(world),
  transactions: (world) => new Transactions(world),
  users: (world) => new Users(world),
}

export function activitiesOf(world: SwarmWorld): Activity[] {
  return world.plan.activities.map((name) => makers[name](world))
}
