import type { DocumentWriter } from '@shardlab/bson'

/** For serverStatus. Server: CatalogCache::CollectionCache::Stats. */
export class RefreshStatistics {
  #waitMs = 0
  #activeIncremental = 0
  #startedIncremental = 0
  #activeFull = 0
  #startedFull = 0
  #failed = 0

  /**
   * @param incremental whether only changes since a cached version are read
   * @param now milliseconds
   */
  async count<T>(incremental: boolean, now: () => number, refresh: () => Promise<T>): Promise<T> {
    const startedAtMs = now()
    if (incremental) {
      this.#activeIncremental++
      this.#startedIncremental++
    } else {
      this.#activeFull++
      this.#startedFull++
    }
    try {
      return await refresh()
    } catch (error) {
      this.#failed++
      throw error
    } finally {
      if (incremental) this.#activeIncremental--
      else this.#activeFull--
      this.#waitMs += now() - startedAtMs
    }
  }

  write(writer: DocumentWriter): DocumentWriter {
    return writer
      .int64('totalRefreshWaitTimeMicros', this.#waitMs * 1000)
      .int64('numActiveIncrementalRefreshes', this.#activeIncremental)
      .int64('countIncrementalRefreshesStarted', this.#startedIncremental)
      .int64('numActiveFullRefreshes', this.#activeFull)
      .int64('countFullRefreshesStarted', this.#startedFull)
      .int64('countFailedRefreshes', this.#failed)
  }
}
