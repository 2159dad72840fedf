import { exchange, type ErrorField } from './exchange.js'

export const measuredExchanges = {
  /**
   * `ranges`: eight doubles for each (`SizedRange`). The shard adds the part inside its own chunks,
   * or removes it, and answers with the amount: nothing if the collection has another UUID, as
   * after a resharding, when positions mean other keys.
   */
  'shard.measure': exchange<
    { ns: string; uuid: Uint8Array; ranges: Uint8Array },
    { documents: number; bytes: number; error: ErrorField }
  >({ ns: 'test.c', uuid: new Uint8Array(16), ranges: new Uint8Array(64) }, { documents: 1, bytes: 40, error: null }),
}
