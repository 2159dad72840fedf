import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

export type FaultSwitch = 'stepped-down' | 'delayed-replication' | 'small-oplog' | 'frozen-routes'

export const faultExchanges = {
  /**
   * Null: off. `stepped-down` (members with data): the member is not a primary; true.
   * `delayed-replication`: it applies entries of other members so many milliseconds later.
   * `small-oplog`: its oplog has at most so many bytes. `frozen-routes` (routers): it does not
   * refresh placements; true.
   */
  'faults.switch': exchange<{ name: FaultSwitch; value: true | number | null }, Empty>(
    { name: 'stepped-down', value: true },
    {},
  ),
  /**
   * A client's command `shardlab` about faults or copies, from a router to the address `cluster`.
   * `reply`: the fields of the answer except `ok`.
   */
  'cluster.command': exchange<{ verb: string; body: Uint8Array }, { reply: Uint8Array; error: ErrorField }>(
    { verb: 'list', body: emptyDocument },
    { reply: emptyDocument, error: null },
  ),
}
