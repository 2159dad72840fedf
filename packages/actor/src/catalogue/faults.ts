import { emptyDocument, exchange, type Empty, type ErrorField } from './exchange.js'

/** Requests that apply faults. */
export const faultExchanges = {
  /**
   * Sets a switch of a member. `stepped-down` (shards and config server): it is not a primary while
   * the switch is on. `frozen-routes` (routers): it does not refresh placements while the switch is
   * on.
   */
  'faults.switch': exchange<{ name: 'stepped-down' | 'frozen-routes'; on: boolean }, Empty>(
    { name: 'stepped-down', on: true },
    {},
  ),
  /**
   * A client's command about faults, from a router to the address `cluster`. `verb`: apply, list or
   * heal; `body`: the command. `reply` has the fields of the answer except `ok`.
   */
  'cluster.faults': exchange<{ verb: string; body: Uint8Array }, { reply: Uint8Array; error: ErrorField }>(
    { verb: 'list', body: emptyDocument },
    { reply: emptyDocument, error: null },
  ),
}
