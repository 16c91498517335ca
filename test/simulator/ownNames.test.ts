/** What `npm start` serves, for a website whose name resolves to 127.0.0.1 (DNS rebinding). */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveProfilePage, type ProfilePage } from '../../scripts/profilePage/server';
import { passwordIn } from '../../scripts/stack';
import { dialects, fixtures } from '.';
import { useSimulator } from './testing/useSimulator';

const OWN = ['127.0.0.1', 'localhost', 'LOCALHOST:1', '127.0.0.1:5678', '[::1]:5678'];
const FOREIGN = [
	'evil.example',
	'evil.example:5678',
	'127.0.0.1.evil.example',
	'localhost.',
	'::1',
];

const simulator = useSimulator({ dialect: dialects.plain });
let page: ProfilePage;

beforeAll(async () => (page = await serveProfilePage()));
afterAll(() => page.stop());

async function responseTo(url: string, headers: Record<string, string>) {
	const request = get(url, { headers });
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		request.once('response', resolve);
		request.once('upgrade', resolve);
		request.once('error', reject);
	});
	let body = '';
	for await (const part of response.setEncoding('utf8')) body += String(part);
	return { status: response.statusCode, body };
}

const pages = (): Array<[string, Record<string, string>?]> => [
	[page.url],
	[`${page.url}/profile`],
	[simulator().baseUrl],
	[`${simulator().baseUrl}/v1/active_agents`, { 'API-Token': simulator().token }],
	[
		`${simulator().baseUrl}/v1/chat/session/${fixtures.sessions.open}/user-stream`,
		{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
	],
];

test.each(FOREIGN)('%s gets nothing', async (host) => {
	for (const [url, headers] of pages()) {
		const { status, body } = await responseTo(url, { ...headers, host });
		expect([url, status]).toEqual([url, 421]);
		expect(body).not.toMatch(/<html|data/i);
	}
});

test.each(OWN)(
	'%s gets the page of the profile and that of the simulated service',
	async (host) => {
		for (const url of [page.url, simulator().baseUrl]) {
			expect(await responseTo(url, { host, accept: 'text/html' })).toMatchObject({ status: 200 });
		}
	},
);

describe("the owner's password in n8n", () => {
	let home: string;
	beforeEach(async () => (home = await mkdtemp(join(tmpdir(), 'start-'))));
	afterEach(async () => await rm(home, { recursive: true }));

	test('is another one in each folder, and the same at each start', async () => {
		const password = await passwordIn(home);
		// What n8n requires.
		expect(password).toMatch(/^(?=.*[A-Z])(?=.*\d).{20,64}$/);
		expect(await passwordIn(home)).toBe(password);
		expect(await readFile(join(home, 'password'), 'utf8')).toBe(password);
		expect((await stat(join(home, 'password'))).mode & 0o077).toBe(0);
		const other = await mkdtemp(join(tmpdir(), 'start-'));
		expect(await passwordIn(other)).not.toBe(password);
		await rm(other, { recursive: true });
	});

	test('is not made for a folder whose owner has one that is printed in the sources', async () => {
		await mkdir(join(home, '.n8n'));
		await writeFile(join(home, '.n8n', 'database.sqlite'), '');
		await expect(passwordIn(home)).rejects.toThrow('Add --fresh');
	});
});
