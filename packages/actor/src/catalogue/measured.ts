import { exchange, type ErrorField } from './exchange.js'

/**
 * Requests about measured collections, which have sizes of ranges instead of documents. Simulated
 * clusters only.
 */
export const measuredExchanges = {
  /**
   * Adds sizes to ranges, six doubles for each (`SizedRange`). A shard adds the part inside its own
   * chunks, and answers with its amount.
   */
  'shard.measure': exchange<
    { ns: string; ranges: Uint8Array },
    { documents: number; bytes: number; error: ErrorField }
  >({ ns: 'test.c', ranges: new Uint8Array(48) }, { documents: 1, bytes: 40, error: null }),
}
