import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import type { ResolvedOptions } from '../resolved-options.js'

/** true: any free port. */
export type DashboardOption = boolean | number

/** The option, and those of the cluster itself. @throws OptionError */
export function dashboardIn(
  options: ClusterOptions,
): readonly [dashboard: DashboardOption, others: Omit<ClusterOptions, 'dashboard'>] {
  // `resolveOptions` refuses options that are not an object.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return [false, options]
  const { dashboard = false, ...others } = options
  if (dashboard === false) return [dashboard, others]
  const isPort = Number.isInteger(dashboard) && (dashboard as number) >= 0 && (dashboard as number) <= 65_535
  if (dashboard !== true && !isPort)
    throw new OptionError(
      `dashboard is ${JSON.stringify(dashboard)}; it must be true, false or a port from 0 to 65535.`,
    )
  return [dashboard, others]
}

/** The options of a cluster with this dashboard. @throws OptionError it cannot have one */
export function withDashboard(dashboard: DashboardOption, options: ResolvedOptions): ResolvedOptions {
  if (dashboard !== false && options.auth)
    throw new OptionError('dashboard: its page has no login, so it cannot be used with auth: remove one of them.')
  return options
}
