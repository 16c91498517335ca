/** The page "Service Profile from examples" on this machine. What is pasted isn't stored or sent anywhere else. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { isOwnName, listen } from '../../test/n8n/ports';
import { profileFrom, type Conversion } from './fromExamples';

const FILES: { readonly [path: string]: readonly [file: string, type: string] } = {
	'/': ['page.html', 'text/html'],
	'/page.css': ['page.css', 'text/css'],
	'/dom.js': ['../../test/simulator/page/dom.js', 'text/javascript'],
	'/page.js': ['page.js', 'text/javascript'],
};

/** Values come from outside, so the page runs only its own script. */
const CONTENT_SECURITY_POLICY =
	"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:";

/** Longer than any documentation that someone pastes. */
const MAX_CHARACTERS = 1_000_000;

const pasted = z.object({
	curls: z.string(),
	responses: z.record(z.string()),
	answers: z.record(z.string()),
});

export interface ProfilePage {
	url: string;
	stop: () => void;
}

export async function serveProfilePage(): Promise<ProfilePage> {
	const server = createServer((request, response) => {
		response.setHeader('content-security-policy', CONTENT_SECURITY_POLICY);
		const [file = '', type = ''] = FILES[request.url ?? ''] ?? [];
		if (!isOwnName(request.headers.host)) response.writeHead(421).end();
		else if (request.method === 'POST' && request.url === '/profile') {
			converted(request).then(
				(result) =>
					response.setHeader('content-type', 'application/json').end(JSON.stringify(result)),
				() => response.writeHead(400).end(),
			);
		} else if (file === '') response.writeHead(404).end('This page does not exist.');
		else {
			response
				.setHeader('content-type', `${type}; charset=utf-8`)
				.end(readFileSync(join(__dirname, file)));
		}
	});
	return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => server.close() };
}

async function converted(request: IncomingMessage): Promise<Conversion> {
	request.setEncoding('utf8');
	let text = '';
	for await (const part of request) {
		text += String(part);
		if (text.length > MAX_CHARACTERS) throw new Error('The text is too long');
	}
	return profileFrom(pasted.parse(JSON.parse(text)));
}
