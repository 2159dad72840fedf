import type { ReportPage } from '@shardlab/report'

/** The element of a report's file that has its data. */
export const dataElement = 'report-data'

/** @throws Error a sentence for the reader */
export function parseReport(json: string): ReportPage {
  const page = JSON.parse(json) as ReportPage
  if (page.shardlabReport !== 1)
    throw new Error(`It has the format ${String(page.shardlabReport)}, and this page draws the format 1.`)
  return page
}
