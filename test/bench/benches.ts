import type { Bench } from './bench.js'

export const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  'change-streams': () => import('./change-streams.js'),
  codec: () => import('./codec.js'),
  dashboard: () => import('./dashboard.js'),
  durable: () => import('./durable.js'),
  fork: () => import('./fork.js'),
  memory: () => import('./memory.js'),
  migration: () => import('./migration.js'),
  nats: () => import('./nats.js'),
  operations: () => import('./operations.js'),
  replication: () => import('./replication.js'),
  routing: () => import('./routing.js'),
  scale: () => import('./scale.js'),
  simulate: () => import('./simulate.js'),
  soak: () => import('./soak.js'),
  start: () => import('./start.js'),
  storage: () => import('./storage.js'),
  transactions: () => import('./transactions.js'),
  unique: () => import('./unique.js'),
  wire: () => import('./wire.js'),
  yields: () => import('./yields.js'),
}
