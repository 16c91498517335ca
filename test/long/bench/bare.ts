/** The baseline: the same work in a Node.js script without n8n. Run as `node bare.ts <service> <token> <job> …`. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import pLimit from 'p-limit';
import Papa from 'papaparse';
import WebSocket from 'ws';
import { z } from 'zod';
import { filled, fixtures } from '../../simulator/state/fixtures';

const CONTACTS_PER_REQUEST = 10_000;
const agentUuid = fixtures.agents.full;
// n8n opens a connection for each request, so this script does, too.
const agent = new Agent({ keepAlive: false });
const [service = '', token = '', job = '', ...args] = process.argv.slice(2);
const [first = '', second = ''] = args;
const range = (count: string) => Array.from({ length: Number(count) }, (_, index) => index);

async function send(method: string, path: string, body?: object): Promise<unknown> {
	return await new Promise((resolve, reject) => {
		const text = body && JSON.stringify(body);
		const headers = {
			'API-Token': token,
			...(text !== undefined && {
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(text),
			}),
		};
		const sent = request(`${service}${path}`, { method, agent, headers }, (response) => {
			let responseText = '';
			response.setEncoding('utf8');
			response.on('data', (part: string) => (responseText += part));
			response.on('end', () => {
				if (response.statusCode === 200) resolve(JSON.parse(responseText));
				else reject(new Error(`${String(response.statusCode)} ${responseText.slice(0, 200)}`));
			});
		});
		sent.on('error', reject);
		sent.end(text);
	});
}

/** Cleans, removes duplicates and posts the rows. */
async function push(rows: Array<Record<string, string>>): Promise<void> {
	const seen = new Map<string, Record<string, string>>();
	for (const row of rows) {
		const phone = (row.phone ?? '').replace(/[\s()-]/g, '').replace(/^(\+?91|0)(?=\d{10}$)/, '');
		if (!/^[6-9]\d{9}$/.test(phone)) continue;
		const known = seen.get(phone);
		const isLonger = (row.person_name ?? '').length > (known?.person_name ?? '').length;
		if (known === undefined || isLonger) seen.set(phone, { ...row, phone });
	}
	const contacts = [...seen.values()];
	for (let start = 0; start < contacts.length; start += CONTACTS_PER_REQUEST) {
		const chunk = contacts.slice(start, start + CONTACTS_PER_REQUEST);
		await send('POST', `/v1/campaigns/${fixtures.campaigns.active}/contacts`, {
			agent_uuid: agentUuid,
			contacts: chunk,
		});
	}
}

const readRows = (file: string) =>
	Papa.parse<Record<string, string>>(readFileSync(file, 'utf8'), {
		header: true,
		skipEmptyLines: true,
	}).data;

/** Runs `act` with limited concurrency. 0 means no limit. */
async function each(count: string, concurrency: string, act: (index: number) => Promise<unknown>) {
	const limit = pLimit(Number(concurrency) || Number(count));
	await Promise.all(range(count).map(async (index) => await limit(act, index)));
}

const page = z.object({
	data: z.array(z.unknown()),
	meta: z.object({ total_pages: z.number() }),
});

async function pages(path: string): Promise<void> {
	const found: unknown[] = [];
	for (let number = 1; ; number++) {
		const { data, meta } = page.parse(await send('GET', `${path}page=${number}&per_page=100`));
		for (const entry of data) found.push(entry);
		if (number >= meta.total_pages) break;
	}
}

const minted = z.object({ data: z.object({ token: z.string(), ws_url: z.string() }) });

async function socketAddress(sessionId: string): Promise<URL> {
	const path = `/v1/chat/session/${sessionId}/ws_token`;
	const { data } = minted.parse(await send('POST', path, { stream: 'user' }));
	const url = new URL(data.ws_url);
	url.searchParams.set('token', data.token);
	// A new client ID, because a known one gets earlier events again.
	url.searchParams.set('client_id', `bare-${process.pid}`);
	return url;
}

async function connect(sessionId: string): Promise<WebSocket> {
	const socket = new WebSocket(await socketAddress(sessionId));
	await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
	return socket;
}

/** Sends messages one after another in each session. */
async function chat(messages: string, sessions: string): Promise<void> {
	await each(sessions, '0', async (session) => {
		const socket = await connect(filled.sessionId(session));
		for (let index = session; index < Number(messages); index += Number(sessions)) {
			const acked = new Promise<void>((resolve) => {
				socket.on('message', function ack(data: Buffer) {
					const { type } = z.object({ type: z.string() }).parse(JSON.parse(data.toString()));
					if (type !== 'ws_write_result') return;
					socket.off('message', ack);
					resolve();
				});
			});
			socket.send(JSON.stringify({ type: 'message', content: `Message ${index}` }));
			await acked;
		}
		socket.terminate();
	});
}

/** Memory of one idle Node.js socket in bytes. */
async function idle(sessions: string): Promise<number[]> {
	const sockets: object[] = [];
	const open = async (session: number) => {
		const socket = new globalThis.WebSocket(await socketAddress(filled.sessionId(session)));
		await new Promise((resolve) => socket.addEventListener('open', resolve));
		sockets.push(socket);
	};
	await open(0);
	const before = liveBytes();
	// One after another, because simultaneous connections share memory for the same host.
	await each(sessions, '1', open);
	return [(liveBytes() - before) / (sockets.length - 1)];
}

function liveBytes(): number {
	globalThis.gc?.();
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}

const JOBS: { [name: string]: () => Promise<void> } = {
	calls: async () =>
		await each(first, second, async (index) => {
			await send('POST', '/v1/call', {
				agent_uuid: agentUuid,
				country_code: 'IN',
				phone_number: String(9_876_500_000 + index),
			});
		}),
	gets: async () =>
		await each(
			first,
			second,
			async (index) => await send('GET', `/v1/call/${filled.callId(index)}`),
		),
	pages: async () => await pages(first),
	chat: async () => await chat(first, second),
};

async function measured(): Promise<number[]> {
	if (job === 'idle') return await idle(first);
	const rows = job === 'feedStep' ? readRows(first) : [];
	const started = performance.now();
	if (job === 'feedStep') await push(rows);
	else await JOBS[job]?.();
	return [performance.now() - started];
}

void measured().then((figures) => {
	console.log(JSON.stringify({ figures }));
	process.exit();
});
