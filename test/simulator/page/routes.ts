import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Simulator } from '../simulator';
import { snapshot } from './snapshot';

/** How often the page is updated if something has changed. */
const UPDATE_MS = 250;

const FILES = {
	'/': ['page.html', 'text/html'],
	'/__simulator/page.css': ['page.css', 'text/css'],
	'/__simulator/dom.js': ['dom.js', 'text/javascript'],
	'/__simulator/page.js': ['page.js', 'text/javascript'],
} as const;

/** Names and messages come from outside, so the page runs only its own script. */
const CONTENT_SECURITY_POLICY =
	"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:";

/** The page that shows the other end of the line. */
export function attachPage(sim: Simulator, app: FastifyInstance): void {
	for (const [url, [file, type]] of Object.entries(FILES)) {
		const content = readFileSync(join(__dirname, file));
		app.get(url, async (request, reply) => {
			// Other clients get the response of the service at this path.
			if (url === '/' && request.headers.accept?.includes('text/html') !== true) {
				reply.callNotFound();
				return await reply;
			}
			return await reply
				.header('content-security-policy', CONTENT_SECURITY_POLICY)
				.type(`${type}; charset=utf-8`)
				.send(content);
		});
	}
	app.get('/__simulator/events', (_request, reply) => sendSnapshots(sim, reply));
}

/** Server-sent events: a snapshot at the start, and when something has changed. */
function sendSnapshots(sim: Simulator, reply: FastifyReply): void {
	reply.hijack();
	const { raw } = reply;
	raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
	let last = '';
	const update = () => {
		const text = JSON.stringify(snapshot(sim));
		if (text === last) return;
		last = text;
		raw.write(`data: ${text}\n\n`);
	};
	update();
	const timer = setInterval(update, UPDATE_MS);
	raw.once('close', () => clearInterval(timer));
}
