export { openDashboard, type DashboardServer } from './dashboard-server.js'
export { pageVerbs, type DashboardTarget, type PageVerb } from './target.js'
