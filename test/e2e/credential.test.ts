import { createServer, type RequestListener, type Server } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import { credentialType } from '../n8n/examples';
import { listen, serviceHost } from '../n8n/ports';
import { chain, manualTrigger, node } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { filesWith } from './n8nFolder';

const test = useAccount({ isMapped: true });
const { n8n } = test;
const servers: Server[] = [];

afterAll(() => {
	for (const server of servers) server.close();
});

/** Starts a server. Returns its URL and the tokens that it received. */
async function serverWith(listener: RequestListener) {
	const tokens: unknown[] = [];
	const server = createServer((request, response) => {
		tokens.push(request.headers['api-token']);
		listener(request, response);
	});
	servers.push(server);
	return { url: `http://${serviceHost}:${await listen(server, 0, serviceHost)}`, tokens };
}

describe("n8n's HTTP Request node with this credential", () => {
	async function request(parameters: INodeParameters, credential = test.credential) {
		const sender = node(
			'HTTP Request',
			'n8n-nodes-base.httpRequest',
			4.2,
			{
				authentication: 'predefinedCredentialType',
				nodeCredentialType: credentialType,
				...parameters,
			},
			{ credentials: { [credentialType]: credential } },
		);
		const workflow = await n8n.createWorkflow(chain('HTTP', manualTrigger(), sender));
		const { id } = await n8n.runManually(workflow, 'Start');
		const { error, runData } = await n8n.runData(id);
		await n8n.deleteWorkflow(workflow);
		const items = runData['HTTP Request']?.at(-1)?.data?.main?.[0] ?? [];
		return { error, items: items.map(({ json }) => json) };
	}

	it('sends requests to the service with the token', async () => {
		const { error, items } = await request({
			method: 'POST',
			url: `${test.simulator.baseUrl}/v1/dnd_numbers`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: JSON.stringify({ agent_uuid: fixtures.agents.full, phone: '+919000000019' }),
		});
		expect(error?.message).toBeUndefined();
		expect(items).toMatchObject([{ success: true }]);
		expect(test.simulator.state.dnd.map(({ phone }) => phone)).toContain('+919000000019');
	});

	it('sends nothing to another host, and explains why', async () => {
		const other = await serverWith((_, response) => response.end('{}'));
		const { error } = await request({ url: `${other.url}/v1/active_agents` });
		expect(error?.message).toBe(
			"The request wasn't sent, because its URL isn't below 'Base URL' in the credential",
		);
		expect(error?.description).toContain(test.simulator.baseUrl);
		expect(other.tokens).toEqual([]);
	});

	it.each<[string, (proxy: string) => INodeParameters]>([
		['through a proxy of the node', (proxy) => ({ proxy })],
		['if the node ignores SSL issues', () => ({ allowUnauthorizedCerts: true })],
	])('sends nothing %s', async (_how, options) => {
		const proxy = await serverWith((_, response) => response.end('{}'));
		const url = `${test.simulator.baseUrl}/v1/active_agents`;
		const { error } = await request({ url, options: options(proxy.url) });
		expect(error?.message).toBe(
			"The request wasn't sent, because others could read the API token on its way",
		);
		expect(proxy.tokens).toEqual([]);
	});

	it('does not follow redirects with the token', async () => {
		const other = await serverWith((_, response) => response.end('{}'));
		const moved = await serverWith((_, response) =>
			response.writeHead(302, { location: `${other.url}/v1/active_agents` }).end(),
		);
		const credential = await n8n.createCredential(credentialType, {
			baseUrl: moved.url,
			apiToken: test.simulator.token,
		});
		const { error } = await request({ url: `${moved.url}/v1/active_agents` }, credential);
		await n8n.request('DELETE', `/credentials/${credential.id}`);
		expect(error?.message).toMatch(/302/);
		expect(moved.tokens).toEqual([test.simulator.token]);
		expect(other.tokens).toEqual([]);
	});

	it('does not store the token in the database or log of n8n', async () => {
		await request({ url: `${test.simulator.baseUrl}/v1/no_such_path` });
		expect(await filesWith(test.simulator.token)).toEqual([]);
	});
});
