export { reportHtml } from './report-html.js'
