/**
 * Claims of the manual as tests. A claim holds in a range of versions; its check runs under the
 * first and the last of them, and its counterpart under the nearest version in which it does not
 * hold.
 */
import t, { type Test } from 'tap'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { TestClusters, type TestCluster } from '../../support/clusters.js'

export type Check = (t: Test, lab: TestCluster) => Promise<void>

export interface ClaimOptions {
  /** First version in which the claim holds. Default: the oldest. */
  readonly from?: EmulatedVersion
  /** Last version in which it holds. Default: the newest. */
  readonly to?: EmulatedVersion
  readonly holds: Check
  /** What is true instead where the claim does not hold; absent for claims that always hold. */
  readonly fails?: Check
}

/** The tests of one page; its clusters stop with it. */
export class Page {
  readonly #clusters = new TestClusters({ shards: 3 })

  constructor() {
    t.teardown(() => this.#clusters.stop())
  }

  /**
   * @param row row of section 0 of the specification, by which reviews find the test; null: a
   * sentence without a row
   */
  claim(row: number | null, text: string, { from = '2.6', to = '8.0', holds, fails }: ClaimOptions): void {
    const first = emulatedVersions.indexOf(from)
    const last = emulatedVersions.indexOf(to)
    const outside = [emulatedVersions[first - 1], emulatedVersions[last + 1]].filter((version) => version !== undefined)
    if ((outside.length === 0) !== (fails === undefined))
      throw new Error(`${text}: a counterpart belongs to a range of versions`)
    const label = `${row === null ? '' : `row ${row}: `}${text} (${from === to ? from : `${from} to ${to}`})`
    t.test(label, async (t) => {
      for (const version of new Set([from, to])) {
        await t.test(`holds under ${version}`, async (t) => holds(t, await this.#clusters.at(version)))
      }
      for (const version of outside) {
        await t.test(`does not under ${version}`, async (t) => fails!(t, await this.#clusters.at(version)))
      }
    })
  }
}

type ErrorPattern = { readonly name: string } | { readonly code: number }

/** The error of shardCollection with this code; under 2.6 it has no code. */
export const refusal = ({ version }: TestCluster, code: number): ErrorPattern =>
  version === '2.6' ? { name: 'MongoServerError' } : { code }
