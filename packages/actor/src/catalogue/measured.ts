import { exchange, type ErrorField } from './exchange.js'

/** What only simulated clusters say: about collections that have sizes of ranges instead of documents. */
export const measuredExchanges = {
  /**
   * These ranges grow, six doubles for each: lower bound, upper bound, documents, bytes. A shard takes what lies in its own chunks, and answers how
   * much that was.
   */
  'shard.measure': exchange<
    { ns: string; ranges: Uint8Array },
    { documents: number; bytes: number; error: ErrorField }
  >({ ns: 'test.c', ranges: new Uint8Array(48) }, { documents: 1, bytes: 40, error: null }),
}
