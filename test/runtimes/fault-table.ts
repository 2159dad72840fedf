/**
 * What a client of a router sees during each fault: one row per fault, the same in all runtimes.
 */

/**
 * An outcome is `ok`; `lost`, when the client's connection broke; or the code of an error. `w`
 * before a code: in `writeErrors`. `after` with a number: documents of a bulk that were written
 * before the error. `|` separates outcomes of which either may occur, depending on the speed of the
 * machine. `6, then 133`: the answer may be the first one for a while.
 */
export interface Outcomes {
  /** An insert on the faulty shard that is not retryable: the first command during the fault. */
  readonly insert: string
  /** A find by key on the faulty shard. */
  readonly find: string
  /** A find by key on another shard. */
  readonly elsewhere: string
  readonly broadcast: string
  /** A retryable insert on the faulty shard. */
  readonly retryable: string
  /** An ordered bulk: the other shard, the faulty one, the other one again. */
  readonly bulk: string
  /** The next batch of a cursor over all shards that was opened before the fault. */
  readonly getMore: string
  /** A find by key on the faulty shard after the fault has been healed. */
  readonly healed: string
}

export type FaultRow = readonly [fault: string, seen: Outcomes]

const unharmed: Outcomes = {
  insert: 'ok',
  find: 'ok',
  elsewhere: 'ok',
  broadcast: 'ok',
  retryable: 'ok',
  bulk: 'ok',
  getMore: 'ok',
  healed: 'ok',
}

/**
 * The shard is down: the router looks for a primary, but a getMore goes to the member that holds
 * the cursor.
 */
const noPrimary: Outcomes = {
  ...unharmed,
  insert: 'w133',
  find: '133',
  broadcast: '133',
  retryable: 'w133',
  bulk: 'w133 after 1',
  getMore: '6',
}

/**
 * The first request waits until the link is closed; afterwards the shard counts as down. Each end
 * closes it by its own clock: until the router has, the shard refuses.
 */
const silent: Outcomes = { ...noPrimary, insert: 'w6|w133', find: '6, then 133' }

/** Connections break on every request. */
const broken: Outcomes = {
  ...unharmed,
  insert: 'w6',
  find: '6',
  broadcast: '6',
  retryable: 'w6',
  bulk: 'w6 after 1',
  getMore: '6',
}

const lost: Outcomes = {
  insert: 'lost',
  find: 'lost',
  elsewhere: 'lost',
  broadcast: 'lost',
  retryable: 'lost',
  bulk: 'lost',
  getMore: 'lost',
  healed: 'ok',
}

export const faultTable: readonly FaultRow[] = [
  ['crash shard02', noPrimary],
  ['stop shard02', noPrimary],
  ['restart shard02', { ...unharmed, getMore: '43' }],
  ['pause shard02', silent],
  // The shard refuses the first command; then the router waits for an election. Cursors stay open.
  ['step down shard02', { ...noPrimary, insert: 'w6', getMore: 'ok' }],
  ['slow shard02 by 20x', unharmed],
  ['slow disk of shard02 by 5ms', unharmed],
  ['fill disk of shard02', { ...unharmed, insert: 'w14031', retryable: 'w14031', bulk: 'w14031 after 1' }],
  ['skew clock of shard02 by 2h', unharmed],
  ['jump clock of shard02 by -2h', unharmed],
  ['partition shard02 from mongos01', silent],
  ['partition shard02 from mongos01 one way', silent],
  ['delay between mongos01 and shard02 by 1ms..5ms', unharmed],
  ['limit between mongos01 and shard02 to 100KB/s', unharmed],
  ['duplicate between members and members', unharmed],
  ['drop between mongos01 and shard02', broken],
  ['refuse connections to shard02 from mongos01', noPrimary],
  ['cut replies of shard02 to mongos01', broken],
  ['cut replies of mongos01 to clients', lost],
  ['drop between mongos01 and clients', lost],
  ['refuse connections to mongos01 from clients', lost],
  ['delay from clients to mongos01 by 2ms', unharmed],
  ['config unavailable', unharmed],
  ['freeze routes of mongos01', unharmed],
  ['stall range deleter of shard02', unharmed],
  ['hold at shard.migration.committing', unharmed],
  ['fail at mongos.read.targeted', { ...unharmed, find: '192', elsewhere: '192', broadcast: '192' }],
  ['crash at mongos.read.targeted on mongos01', { ...lost, insert: 'ok' }],
  ['shrink oplog of shard02 to 1KB', unharmed],
  ['destroy shard03', unharmed],
]
