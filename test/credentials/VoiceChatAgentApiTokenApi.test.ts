import { existsSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';
import nock from 'nock';
import { VoiceChatAgentApiTokenApi } from '../../credentials/VoiceChatAgentApiTokenApi.credentials';
import { clock } from '../../nodes/shared/n8n/http/accountClient';
import { voiceChatAgentApiTest } from '../../nodes/shared/n8n/http/credentialTest';
import { apiMappingOf } from '../contract/credentialFor';
import { providerSettingsOf } from '../contract/providerBlock';
import { dialects } from '../simulator';
import {
	PROVIDER_SETTINGS,
	PROVIDER_SETTINGS_LABEL,
} from '../../nodes/shared/apiMapping/providerSettings';
import { MAPPING_TOPICS } from '../../nodes/shared/apiMapping/topics';
import { engineHarness, HOST, loader, makeAdditionalData, service, TOKEN } from '../engine';
import { ROOT } from '../engine/sourceLoader';

const harness = engineHarness();

/** The button "Test" of the credential form, through n8n-core's own context. */
async function pressTest(data: ICredentialDataDecryptedObject): Promise<INodeCredentialTestResult> {
	const context = new CredentialTestContext(makeAdditionalData(harness.credentials, 'internal'));
	const credential = { id: '1', name: 'c', type: 'voiceChatAgentApiTokenApi' };
	return await voiceChatAgentApiTest.call(context, {
		...credential,
		data: { baseUrl: HOST, apiToken: TOKEN, ...data },
	});
}

describe('the test button', () => {
	test('accepts a token that the service accepts, in a header and nowhere else', async () => {
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(await pressTest({})).toEqual({
			status: 'OK',
			message: 'The service accepts the API token',
		});
	});

	test('another answer of the service means that the token was accepted', async () => {
		service()
			.get('/v1/active_agents')
			.reply(422, { success: false, errors: ['scope is missing'] });
		expect(await pressTest({})).toMatchObject({ status: 'OK' });
	});

	test('white space around the pasted values does no harm', async () => {
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(await pressTest({ baseUrl: ` ${HOST}/ `, apiToken: ` ${TOKEN}\n` })).toMatchObject({
			status: 'OK',
		});
	});

	test.each([
		['no base URL', { baseUrl: '' }, /no Base URL.*beginning with https/],
		['not an address', { baseUrl: 'voice' }, /not a web address/],
		['http', { baseUrl: 'http://voice.example.com' }, /unprotected.*https/],
		['a query', { baseUrl: `${HOST}/?a=1` }, /more than an address/],
		['a sign-in name', { baseUrl: 'https://me:pw@voice.example.com' }, /more than an address/],
		['a short token', { apiToken: 'short' }, /5 characters.*has 16.*Copy the whole token/],
		['a token with a gap', { apiToken: 'tok-012345 789ab' }, /has white space in it/],
	])('%s: nothing is sent', async (_name, data, message) => {
		expect(await pressTest(data)).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
	});

	const REJECTED = { success: false, error: 'Invalid API token' };
	const NO_PATH = { success: false, error: 'Not found', details: null };
	test.each<[string, number, object | string, RegExp]>([
		['401', 401, REJECTED, /does not accept the API token.*Paste the 16-character API token/],
		['the 401 text at 200', 200, REJECTED, /does not accept the API token/],
		['a 401 of a proxy', 401, '<html>', /Check API Token and Base URL.*a proxy before the service/],
		['a redirect', 302, '', /redirect, which is never followed.*the final address/],
		['an HTML page', 200, '<html>Welcome</html>', /web page came back.*Set Base URL/],
		['an HTML 404', 404, '<html>Not here</html>', /Something other.*404.*Set Base URL/],
		['a 404 in the service’s form', 404, NO_PATH, /not found at this Base URL.*Not found/],
		['another 4xx of a proxy', 403, 'Blocked', /Something other.*403.*Set Base URL/],
		['an empty answer', 200, '', /answer is empty.*Set Base URL/],
		[
			'another interface',
			200,
			{ hello: 'world' },
			/does not hold what was asked for.*Set Base URL/,
		],
		['an answer cut short', 200, '{ "success": tr', /arrived incomplete.*Set Base URL/],
		['too many requests', 429, NO_PATH, /too many requests.*The request had no effect/],
		['a service in trouble', 503, '<html>', /stumbled.*503.*Test again later/],
	])('%s', async (_name, status, body, message) => {
		jest.spyOn(clock, 'sleep').mockResolvedValue();
		service()
			.get('/v1/active_agents')
			.times(status === 429 || status >= 500 ? 4 : 1)
			.reply(status, body, status === 302 ? { location: 'https://elsewhere.example.com' } : {});
		const result = await pressTest({});
		expect(result).toEqual({ status: 'Error', message: expect.stringMatching(message) });
		expect(result.message).not.toMatch(/run (this|the)|item|Open the credential/);
		expect(JSON.stringify(result)).not.toContain(TOKEN);
		jest.restoreAllMocks();
	});

	test.each(['v1', 'V1/', 'api/v2'])('a base URL that ends in %s', async (path) => {
		service()
			.get(`/${path.replace(/\/$/, '')}/v1/active_agents`)
			.reply(404, NO_PATH);
		const { status, message } = await pressTest({ baseUrl: `${HOST}/${path}` });
		expect({ status, message }).toEqual({
			status: 'Error',
			message: expect.stringMatching(/Remove \/v[12] from the end of Base URL/i),
		});
	});

	test('an unknown host and a certificate that cannot be verified', async () => {
		const fault = (code: string, syscall?: string) =>
			Object.assign(new Error(code), { code, syscall });
		nock(HOST).get('/v1/active_agents').replyWithError(fault('DEPTH_ZERO_SELF_SIGNED_CERT'));
		expect(await pressTest({})).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/certificate could not be verified/),
		});
		nock(HOST).get('/v1/active_agents').times(4).replyWithError(fault('ENOTFOUND', 'getaddrinfo'));
		const sleep = jest.spyOn(clock, 'sleep').mockResolvedValue();
		expect(await pressTest({})).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/cannot be reached.*Base URL/),
		});
		expect(sleep).toHaveBeenCalledTimes(3);
		sleep.mockRestore();
	});
});

describe('the API mapping is tried as far as a read can', () => {
	const agents = [{ agent_uuid: 'agent_a1', agent_name: 'Sales' }];
	const withAgents = (data: unknown = agents) =>
		service().get('/v1/active_agents').reply(200, { success: true, data });
	const CALLS = { callListPath: 'data.calls', callListPaging: 'whole', callListPageSizeName: 'n' };
	const DND = { dndListAgentName: 'agent', dndListPerPageName: 'size' };
	const CHAT = { chatCreateAgentName: 'agent', chatCreateAgentPlacement: 'query' };

	test('what was read and what was not tested is told', async () => {
		withAgents();
		service()
			.get('/v1/calls')
			.query({ n: 1 })
			.reply(200, { success: true, data: { calls: [] } });
		service()
			.get('/v1/dnd_numbers')
			.query({ agent: 'agent_a1', size: 1 })
			.reply(200, { success: true, data: [], meta: {} });
		const result = await pressTest({ ...CALLS, ...DND, ...CHAT, agentsPath: 'data' });
		expect(result).toEqual({
			status: 'OK',
			message:
				'The service accepts the API token. Read as the API mapping says: the list of agents, the call list, a do-not-disturb list. Not tested: chat requests (a test sends no messages), query parameters of chat requests (a test sends no messages)',
		});
	});

	test.each<[string, ICredentialDataDecryptedObject, object, RegExp]>([
		[
			'the list of agents',
			{ agentsPath: 'data.staff' },
			{},
			/When the list of agents was read: .*no agent is recognized\. In the credential, turn on “Set Up the List of Agents” and check “Path to Agents in Response”/,
		],
		[
			'the names of the agents',
			{ agentsPath: 'data', agentsNamePath: 'shown as' },
			{},
			/When the list of agents was read: No agent of the list has a name\. In the credential, turn on “Set Up the List of Agents” and check “Path to Name in Each Agent”.* The answer holds/,
		],
		[
			'the names of agents whose entries are their IDs',
			{ agentsPath: 'data', agentsIdPlace: 'key', agentsNamePath: 'name' },
			{},
			/When the list of agents was read: No agent of the list has a name/,
		],
		[
			'the call list, which is elsewhere',
			CALLS,
			{ calls: { success: true, data: { found: [] } } },
			/When the call list was read: The answer holds no list of calls at “data\.calls”\..*check “Path to List in Response”/,
		],
		[
			'the call list, of which a value is missing',
			{ callListPath: 'data' },
			{},
			/When the call list was read: The credential does not say yet: “Pagination”/,
		],
		[
			'the call list, which the service rejects',
			CALLS,
			{ calls: { success: false, errors: ['n is not known'] } },
			/When the call list was read: .*n is not known.*check “Page Size Parameter Name”/,
		],
		[
			'the total of the call list, which is elsewhere',
			{ ...CALLS, callListTotalPath: 'meta.total' },
			{ calls: { success: true, data: { calls: [{ call_id: 'c' }] }, meta: { count: 1 } } },
			/The response has no number at "meta\.total"\. .*check “Path to Total Count in Response”/,
		],
		[
			'the total of the call list, whose name has a dot',
			{ ...CALLS, callListTotalPath: 'meta.total' },
			{ calls: { success: true, data: { calls: [] }, 'meta.total': 0 } },
			/The response has no number at "meta\.total"/,
		],
		[
			'the total of the call list, which is another thing',
			{ ...CALLS, callListTotalPath: 'data' },
			{ calls: { success: true, data: { calls: [] } } },
			/The response has no number at "data"/,
		],
		[
			'the calls in their entries, which are elsewhere',
			{ ...CALLS, callListItemPath: 'call' },
			{ calls: { success: true, data: { calls: [{ entry: { call_id: 'c' } }] } } },
			/No entry has a call at "call"\. .*check “Path to Call in Each Entry”/,
		],
		[
			'the keys of the calls, which are in a list',
			{ ...CALLS, callListKeyName: 'call_id' },
			{ calls: { success: true, data: { calls: [{ call_id: 'c' }] } } },
			/The calls are in a list at "data\.calls", so they have no keys/,
		],
		[
			'the cursor of a list that has more pages',
			{
				...CALLS,
				callListPaging: 'cursor',
				callListPageName: 'after',
				callListCursorPath: 'meta.next',
				callListTotalPath: 'meta.total',
			},
			{
				calls: {
					success: true,
					data: { calls: [{ call_id: 'c' }] },
					meta: { total: 2, cursor: 'x' },
				},
			},
			/The response has nothing at "meta\.next"\. .*check “Path to Next Cursor or Link in Response”/,
		],
		[
			'the do-not-disturb list, by a parameter that the service does not know',
			DND,
			{ numbers: { success: false, error: 'agent_not_found' } },
			/When a do-not-disturb list was read: .*agent_not_found.*check “Get List: Agent Parameter Name” and “Get List: Page Size Parameter Name”/,
		],
		[
			'the do-not-disturb list, which is none',
			DND,
			{ numbers: { success: true, data: {} } },
			/When a do-not-disturb list was read: The answer holds no list of numbers/,
		],
	])('%s', async (_what, data, { calls, numbers }: { calls?: object; numbers?: object }, told) => {
		withAgents();
		if (calls) service().get('/v1/calls').query(true).reply(200, calls);
		if (numbers) service().get('/v1/dnd_numbers').query(true).reply(200, numbers);
		const { status, message } = await pressTest(data);
		expect({ status, message }).toEqual({ status: 'Error', message: expect.stringMatching(told) });
		expect(message).toMatch(/^The service accepts the API token, but not all of the API mapping/);
		expect(message).not.toContain(TOKEN);
	});

	test.each([
		[
			'nothing',
			{},
			/Not tested: further pages of the call list \(the first response has nothing at "next"/,
		],
		['null', { next: null }, /call list$/],
		['a cursor', { next: 'abc' }, /call list$/],
	])('a list whose response has %s at the path to the cursor', async (_what, more, told) => {
		withAgents();
		const body = { success: true, data: { calls: [{ call_id: 'c' }] }, ...more };
		service().get('/v1/calls').query({ n: 1 }).reply(200, body);
		const cursor = { callListPaging: 'cursor', callListPageName: 'c', callListCursorPath: 'next' };
		expect(await pressTest({ ...CALLS, ...cursor })).toEqual({
			status: 'OK',
			message: expect.stringMatching(told),
		});
	});

	test('what does not work is told of all topics at once', async () => {
		withAgents();
		service().get('/v1/calls').query(true).reply(200, { success: true, data: {} });
		service().get('/v1/dnd_numbers').query(true).reply(200, { success: true, data: {} });
		const { message } = await pressTest({ ...CALLS, ...DND });
		expect(message).toMatch(/When the call list was read:.*When a do-not-disturb list was read:/);
	});

	test.each([
		['no agent is active', [], /Not tested: a do-not-disturb list \(no active agent is known/],
		['the agents are not recognized', { on: {} }, /Not tested: a do-not-disturb list \(no active/],
	])('%s: there is no list to read', async (_why, data, told) => {
		withAgents(data);
		expect(await pressTest(DND)).toEqual({ status: 'OK', message: expect.stringMatching(told) });
	});

	test('the service that gives no agents, but knows the token: its agents are not tested', async () => {
		service()
			.get('/v1/active_agents')
			.reply(422, { success: false, errors: ['scope is missing'] });
		expect(await pressTest({ agentsPath: 'data' })).toEqual({
			status: 'OK',
			message:
				'The service accepts the API token. Not tested: the list of agents (the service did not give it)',
		});
	});

	test('the block of the provider is tried like the fields, and what is wrong in it is listed', async () => {
		const fields = { ...apiMappingOf(dialects.plain), callListPath: 'data.calls' };
		withAgents();
		service()
			.get('/v1/calls')
			.query(true)
			.reply(200, { success: true, data: { calls: [] }, meta: { total_count: 0 } });
		service().get('/v1/dnd_numbers').query(true).reply(200, { success: true, data: [] });
		const providerSettings = JSON.stringify(providerSettingsOf(fields));
		const { status, message } = await pressTest({ providerSettings });
		expect([status, message]).toEqual(['OK', expect.stringMatching(/API mapping says: .*list/)]);

		withAgents();
		expect(await pressTest({ providerSettings: '{ "call_list": {} }' })).toEqual({
			status: 'Error',
			message: expect.stringMatching(
				/cannot be used as it is\. Correct it.*unknown names: “call_list”/,
			),
		});
	});

	test('a token that is not accepted is told alone', async () => {
		service().get('/v1/active_agents').reply(401, { success: false, error: 'Invalid API token' });
		const { message } = await pressTest({ ...CALLS, ...DND });
		expect(message).toMatch(/does not accept the API token/);
	});
});

describe('the token', () => {
	const credential = new VoiceChatAgentApiTokenApi();
	const data = { baseUrl: HOST, apiToken: TOKEN };

	const authenticate = async (request: object, baseUrl: string = HOST) =>
		await credential.authenticate({ ...data, baseUrl }, { url: '', ...request });

	test.each<[string, object, string?]>([
		['a path below it', { url: `${HOST}/v1/call` }],
		['the address itself', { url: HOST }],
		['capital letters and a query', { url: 'HTTPS://Voice.Example.com/v1/calls?a=b' }],
		['the older options, which the HTTP Request node uses', { url: undefined, uri: `${HOST}/v1` }],
		['an address in two parts', { url: '/v1/call', baseURL: `${HOST}/` }],
		['a whole address beside another base', { url: `${HOST}/v1`, baseURL: 'https://else.where' }],
		['a base URL with a path', { url: `${HOST}/api/v1/call` }, `${HOST}/api/`],
	])('goes along to the base URL: %s', async (_name, options, baseUrl = HOST) => {
		const request = await authenticate({ headers: { 'X-Own': '1' }, ...options }, baseUrl);
		expect(request.headers).toEqual({ 'X-Own': '1', 'API-Token': TOKEN });
	});

	test('goes along with no redirect, whichever helper of n8n sends it', async () => {
		expect(await authenticate({ url: HOST, followRedirect: true, maxRedirects: 21 })).toMatchObject(
			{
				disableFollowRedirect: true,
				followRedirect: false,
				followAllRedirects: false,
				maxRedirects: 0,
			},
		);
	});

	test.each<[string, object, string?]>([
		['another host', { url: 'https://elsewhere.example.com/v1/call' }],
		['a host that begins alike', { url: 'https://voice.example.com.evil.example/v1/call' }],
		['a host that goes on alike', { url: 'https://voice.example.community/v1/call' }],
		['another host in the older options', { url: undefined, uri: 'https://elsewhere.example.com' }],
		['another port', { url: `${HOST}:8443/v1/call` }],
		['plain http', { url: HOST.replace('https', 'http') }],
		['a host behind a sign-in name', { url: 'https://voice.example.com@evil.example/v1' }],
		['a sign-in name of its own', { url: 'https://me@voice.example.com/v1' }],
		['a backslash', { url: 'https://evil.example\\voice.example.com/v1' }],
		['an address without a scheme', { url: '//evil.example/v1', baseURL: HOST }],
		['a whole address beside the base', { url: 'https://evil.example', baseURL: HOST }],
		['a path beside the base’s', { url: `${HOST}/apis/v1` }, `${HOST}/api`],
		['a path that climbs out', { url: `${HOST}/api/../v1` }, `${HOST}/api`],
		['a path that climbs out in disguise', { url: `${HOST}/api/%2e%2e/v1` }, `${HOST}/api`],
		['no address', { url: undefined }],
		['text that is none', { url: 'voice' }],
	])('stays at home and says so: %s', async (_name, options, baseUrl = HOST) => {
		await expect(authenticate(options, baseUrl)).rejects.toMatchObject({
			message: 'The API token was not sent: this address is not below Base URL',
			description: expect.stringMatching(/begin with https:.*The request was not sent/),
		});
	});

	test('a credential that cannot be used says why', async () => {
		await expect(authenticate({ url: HOST }, 'voice')).rejects.toMatchObject({
			message: 'The Base URL in the credential is not a web address',
			description: expect.stringContaining('beginning with https://'),
		});
	});

	describe('against a real server', () => {
		let server: Server;
		const seen: Array<string | string[] | undefined> = [];
		const listen = async (listener: RequestListener) => {
			server = createServer(listener);
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
			const address = server.address();
			if (typeof address !== 'object' || address === null) throw new Error('not listening');
			return `http://127.0.0.1:${address.port}`;
		};
		afterEach(async () => {
			await new Promise((resolve) => server.close(resolve));
		});

		test('is not taken along by a redirect', async () => {
			const baseUrl = await listen((request, response) => {
				seen.push(request.headers['api-token']);
				if (request.url === '/elsewhere') response.end('{}');
				else response.writeHead(307, { location: '/elsewhere' }).end();
			});
			expect(await pressTest({ baseUrl })).toMatchObject({ status: 'Error' });
			expect(seen).toEqual([TOKEN]);
		});
	});
});

test('loads through n8n’s own loader, with each open detail empty and behind its switch', () => {
	const { type } = loader.getCredential('voiceChatAgentApiTokenApi');
	for (const { switchName, fields } of MAPPING_TOPICS) {
		for (const name of Object.keys(fields)) {
			expect(type.properties.find((property) => property.name === name)).toMatchObject({
				default: '',
				displayOptions: { show: { [switchName]: [true] } },
			});
		}
	}
	expect(type.properties.find(({ name }) => name === PROVIDER_SETTINGS)).toMatchObject({
		displayName: PROVIDER_SETTINGS_LABEL,
		default: '',
	});
	expect(type.properties.find(({ name }) => name === 'apiToken')?.typeOptions?.password).toBe(true);
});

test('it is found by its name, and its help is a page of this package', () => {
	const { name, displayName, documentationUrl } = new VoiceChatAgentApiTokenApi();
	expect([name, displayName]).toEqual(['voiceChatAgentApiTokenApi', 'Voice and Chat Agent API']);
	const [, page = 'none'] = documentationUrl.split('/blob/main/');
	expect(existsSync(join(ROOT, page))).toBe(true);
});
