import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js'
import type { LatencySummary } from '../types.js'

export type { Histogram }

/** A longer latency counts as an hour. Three significant digits are accurate to a thousandth. */
const longestUs = 3_600_000_000

export const newHistogram = (digits: 2 | 3 = 3): Histogram =>
  build({
    bitBucketSize: 32,
    autoResize: true,
    highestTrackableValue: 1_000_000,
    numberOfSignificantValueDigits: digits,
  })

export function note(histogram: Histogram, durationUs: number): void {
  histogram.recordValue(Math.min(longestUs, Math.max(1, Math.round(durationUs))))
}

export const encodeHistogram = (histogram: Histogram): string => encodeIntoCompressedBase64(histogram)
export const decodeHistogram = (text: string): Histogram => decodeFromCompressedBase64(text, 32)

export function mergeHistograms(texts: readonly string[], digits: 2 | 3 = 3): Histogram {
  const merged = newHistogram(digits)
  for (const text of texts) merged.add(decodeHistogram(text))
  return merged
}

export function summaryOf(histogram: Histogram): LatencySummary {
  // A percentile is the end of its bucket, which may exceed the highest value.
  const at = (percentile: number): number => Math.min(histogram.maxValue, histogram.getValueAtPercentile(percentile))
  const empty = histogram.totalCount === 0
  return {
    min: empty ? 0 : histogram.minNonZeroValue,
    mean: empty ? 0 : Math.round(histogram.mean),
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    p9999: at(99.99),
    max: histogram.maxValue,
  }
}
