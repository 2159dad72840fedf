import type { ReportPage } from '@shardlab/report'
import { parsed } from '../json-texts.js'

/** The element of a report's file that has its data. */
export const dataElement = 'report-data'

/** @throws Error a sentence for the reader */
export function parseReport(json: string): ReportPage {
  const page = parsed(json) as ReportPage | null
  if (page === null) throw new Error('Its data are damaged or incomplete.')
  if (page.shardlabReport !== 1)
    throw new Error(`It has the format ${String(page.shardlabReport)}, and this page draws the format 1.`)
  return page
}
