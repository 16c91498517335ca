/** The limit: the same work in a Node script with no n8n. Run as `node bare.ts feed|calls <url> <token> …`. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import Papa from 'papaparse';

const CONTACTS_PER_REQUEST = 10_000;
// n8n opens a connection for each request, so the limit does too.
const agent = new Agent({ keepAlive: false });

async function post(url: string, token: string, body: string): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		const headers = {
			'API-Token': token,
			'content-type': 'application/json',
			'content-length': Buffer.byteLength(body),
		};
		const sent = request(url, { method: 'POST', agent, headers }, (response) => {
			let text = '';
			response.setEncoding('utf8');
			response.on('data', (part: string) => (text += part));
			response.on('end', () => {
				JSON.parse(text);
				if (response.statusCode === 200) resolve();
				else reject(new Error(`${String(response.statusCode)} ${text.slice(0, 200)}`));
			});
		});
		sent.on('error', reject);
		sent.end(body);
	});
}

/** Cleans, removes duplicates, stringifies and posts; reading the file is not counted. */
async function feed(url: string, token: string, agentUuid: string, file: string): Promise<number> {
	const { data } = Papa.parse<Record<string, string>>(readFileSync(file, 'utf8'), {
		header: true,
		skipEmptyLines: true,
	});
	const started = performance.now();
	const seen = new Map<string, Record<string, string>>();
	for (const row of data) {
		const phone = (row.phone ?? '').replace(/[\s()-]/g, '').replace(/^(\+?91|0)(?=\d{10}$)/, '');
		if (!/^[6-9]\d{9}$/.test(phone)) continue;
		const known = seen.get(phone);
		const isLonger = (row.person_name ?? '').length > (known?.person_name ?? '').length;
		if (known === undefined || isLonger) seen.set(phone, { ...row, phone });
	}
	const contacts = [...seen.values()];
	for (let start = 0; start < contacts.length; start += CONTACTS_PER_REQUEST) {
		const chunk = contacts.slice(start, start + CONTACTS_PER_REQUEST);
		await post(url, token, JSON.stringify({ agent_uuid: agentUuid, contacts: chunk }));
	}
	return performance.now() - started;
}

async function calls(
	url: string,
	token: string,
	agentUuid: string,
	count: number,
	concurrency: number,
): Promise<number> {
	const started = performance.now();
	let next = 0;
	const worker = async () => {
		while (next < count) {
			const index = next++;
			const body = {
				agent_uuid: agentUuid,
				country_code: 'IN',
				phone_number: String(9876500000 + index),
				person_name: `Person ${index}`,
			};
			await post(url, token, JSON.stringify(body));
		}
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
	return performance.now() - started;
}

async function main(): Promise<void> {
	const [job, url = '', token = '', agentUuid = '', ...rest] = process.argv.slice(2);
	const ms =
		job === 'feed'
			? await feed(url, token, agentUuid, rest[0] ?? '')
			: await calls(url, token, agentUuid, Number(rest[0]), Number(rest[1]));
	console.log(JSON.stringify({ ms }));
}

void main();
