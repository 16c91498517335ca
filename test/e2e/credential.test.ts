import { createServer, type RequestListener, type Server } from 'node:http';
import { credentialType } from '../n8n/examples';
import type { N8nDriver } from '../n8n/driver';
import { freePort, listen } from '../n8n/ports';
import { fixtures } from '../simulator';
import { TestAccount } from './account';

describe('the credential in the editor', () => {
	let test: TestAccount;
	let n8n: N8nDriver;
	const servers: Server[] = [];

	beforeAll(async () => {
		test = await TestAccount.open();
		n8n = test.n8n;
	});

	afterAll(async () => {
		for (const server of servers) server.close();
		await test.close();
	});

	async function serverWith(listener: RequestListener): Promise<string> {
		const server = createServer(listener);
		servers.push(server);
		return `http://127.0.0.1:${await listen(server)}`;
	}

	async function testCredential(baseUrl: string, apiToken = test.simulator.token) {
		return await n8n.testCredential(credentialType, { baseUrl, apiToken });
	}

	it('is valid with the right token', async () => {
		expect(await testCredential(test.simulator.baseUrl)).toMatchObject({ status: 'OK' });
	});

	it.each([
		['a rejected token', 'wrong-token-0001', /token/i],
		['a token of the wrong length', 'short', /16/],
	])('explains %s', async (_case, token, expected) => {
		const { status, message } = await testCredential(test.simulator.baseUrl, token);
		expect(status).toBe('Error');
		expect(message).toMatch(expected);
		expect(message).not.toContain(token);
	});

	it.each<[string, () => Promise<string>, RegExp]>([
		[
			'a host that does not respond',
			async () => `http://127.0.0.1:${await freePort()}`,
			/reach|answer/i,
		],
		['an invalid URL', async () => 'voice.example.com', /https:\/\//],
		['plain HTTP to another machine', async () => 'http://voice.example.com', /https/],
		[
			'a web page instead of the service',
			async () => await serverWith((_, response) => response.end('<html>Welcome</html>')),
			/Base URL/,
		],
		[
			'a redirect',
			async () =>
				await serverWith((_, response) =>
					response.writeHead(302, { location: 'https://elsewhere.example.com' }).end(),
				),
			/redirect|another address/i,
		],
	])('explains %s', async (_case, url, expected) => {
		const { status, message } = await testCredential(await url());
		expect(status).toBe('Error');
		expect(message).toMatch(expected);
		expect(message).not.toContain(test.simulator.token);
	});
});

describe('the agent list in a node', () => {
	let test: TestAccount;

	beforeAll(async () => {
		test = await TestAccount.open();
	});

	afterAll(async () => {
		await test.close();
	});

	async function agents(nodeName: string, filter?: string) {
		return await test.n8n.list({
			nodeType: `n8n-nodes-voice-chat-agent.${nodeName}`,
			method: 'searchAgents',
			path: 'parameters.agentUuid',
			credentials: { [credentialType]: test.account.credential },
			...(filter !== undefined && { filter }),
		});
	}

	it.each(['placeCall', 'pushCampaignContacts'])(
		'contains the active agents in %s',
		async (name) => {
			const { results } = await agents(name);
			const active = [...test.simulator.state.agents.values()]
				.filter(({ active: on, accountId }) => on && accountId === test.simulator.state.accountId)
				.map(({ agentUuid, name: shown }) => ({ name: shown, value: agentUuid }));
			expect(active.length).toBeGreaterThan(1);
			expect(results.map(({ name: shown, value }) => ({ name: shown, value }))).toEqual(
				active.sort((a, b) => a.name.localeCompare(b.name)),
			);
		},
	);

	it('finds an agent by a part of its name', async () => {
		const { results } = await agents('placeCall', 'sales');
		expect(results.map(({ value }) => value)).toEqual([fixtures.agents.full]);
	});
});
