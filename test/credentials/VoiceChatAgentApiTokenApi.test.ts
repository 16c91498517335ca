import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';
import { VoiceChatAgentApiTokenApi } from '../../credentials/VoiceChatAgentApiTokenApi.credentials';
import { voiceChatAgentApiTest } from '../../nodes/host/http/credentialTest';
import { readProfile } from '../../nodes/core/profile/schema';
import type { JsonObject } from '../../nodes/core/values/json';
import {
	engineHarness,
	HOST,
	loader,
	makeAdditionalData,
	service,
	TOKEN,
	useNoWaits,
} from '../engine';

engineHarness();
const waits = useNoWaits();

/** The button "Test" of the credential form, through n8n-core's own context. */
async function pressTest(data: ICredentialDataDecryptedObject): Promise<INodeCredentialTestResult> {
	const context = new CredentialTestContext(makeAdditionalData('internal'));
	const credential = { id: '1', name: 'c', type: 'voiceChatAgentApiTokenApi' };
	return await voiceChatAgentApiTest.call(context, {
		...credential,
		data: { baseUrl: HOST, apiToken: TOKEN, ...data },
	});
}

describe('the test button', () => {
	test('accepts a valid token, sent only in a header', async () => {
		service().get('/v1/active_agents').reply(200, { success: true, data: [] });
		expect(await pressTest({})).toEqual({
			status: 'OK',
			message: 'The service accepts the API token',
		});
	});

	test.each([
		[
			'no base URL',
			{ baseUrl: '' },
			/'Base URL' in the credential isn't the URL of a service.*such as "https/,
		],
		[
			'a short token',
			{ apiToken: 'short' },
			/must have 16 characters \(got 5\).*In n8n, copy the whole/,
		],
	])('%s: nothing is sent', async (_name, data, message) => {
		expect(await pressTest(data)).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
	});

	const REJECTED = { success: false, error: 'Invalid API token' };
	const NO_PATH = { success: false, error: 'Not found', details: null };
	test.each<[string, number, object | string, RegExp]>([
		['401', 401, REJECTED, /rejected the API token.*enter the 16-character token/],
		['its text with a 422', 422, REJECTED, /rejected the API token.*enter the 16-character token/],
		['a 401 of a proxy', 401, '<html>', /check 'API Token' and 'Base URL'.*a proxy may require/],
		['a redirect', 302, '', /redirect, which isn't followed.*the final URL/],
		[
			'an HTML page',
			200,
			'<html>Welcome</html>',
			/doesn't contain.*Set 'Base URL'.*\(HTTP status 200 · Welcome\)/,
		],
		[
			"a 404 in the service's form",
			404,
			NO_PATH,
			/didn't find this.*Set 'Base URL'.*without a version.*Not found/,
		],
		['a blocked account', 403, { success: false, error: 'Account suspended' }, /Account suspended/],
		['too many requests', 429, NO_PATH, /because it receives too many.*The request had no effect/],
	])('%s', async (_name, status, body, message) => {
		service()
			.get('/v1/active_agents')
			.times(status === 429 ? 4 : 1)
			.reply(status, body, status === 302 ? { location: 'https://elsewhere.example.com' } : {});
		const result = await pressTest({});
		expect(result).toEqual({ status: 'Error', message: expect.stringMatching(message) });
		expect(result.message).not.toMatch(/run (this|the)|item|Open the credential/);
		expect(JSON.stringify(result)).not.toContain(TOKEN);
	});

	test.each<[code: string, requests: number, RegExp]>([
		['DEPTH_ZERO_SELF_SIGNED_CERT', 1, /can't be reached/],
		['ENOTFOUND', 4, /can't be reached.*'Base URL'/],
	])('reports %s after %i requests', async (code, requests, message) => {
		const syscall = code === 'ENOTFOUND' ? 'getaddrinfo' : undefined;
		const error = Object.assign(new Error('no'), { code, syscall });
		service().get('/v1/active_agents').times(requests).replyWithError(error);
		expect(await pressTest({})).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
		expect(waits()).toHaveBeenCalledTimes(requests - 1);
	});
});

describe('the test of the profile', () => {
	const agents = [{ agent_uuid: 'agent_a1', agent_name: 'Sales' }];
	const withAgents = (data: unknown = agents) =>
		service().get('/v1/active_agents').reply(200, { success: true, data });
	const pressTestOf = async (serviceProfile: object) =>
		await pressTest({ serviceProfile: JSON.stringify(serviceProfile) });
	const SHOWN = { query: { n: '{pageSize?}' }, list: 'data.calls', next: 'none' };
	const CALLS = { calls: SHOWN };
	const DND = { 'dnd.list': { query: { agent: '{agent}', size: '{pageSize?}', p: '{page}' } } };
	const CHANGES = {
		'dnd.remove': { query: { agent: '{agent}', phone: '{phone}' } },
		'chat.session': { query: { agent: '{agent}' } },
	};

	test('reports what was read and what was not tested', async () => {
		withAgents();
		service()
			.get('/v1/calls')
			.query({ n: 1 })
			.reply(200, { success: true, data: { calls: [] } });
		service()
			.get('/v1/dnd_numbers')
			.query({ agent: 'agent_a1', size: 1 })
			.reply(200, { success: true, data: [], meta: {} });
		expect(await pressTestOf({ ...CALLS, ...DND, ...CHANGES, agents: { list: 'data' } })).toEqual({
			status: 'OK',
			message:
				"The service accepts the API token. Tested with 'Service Profile': the list of agents, the call list, do-not-disturb lists. Not tested: removing numbers from do-not-disturb lists (a test changes nothing), creating chat sessions (a test changes nothing)",
		});
	});

	test('sends a list as the nodes do, with its name once per value', async () => {
		withAgents();
		let sent = '';
		service()
			.get('/v1/calls')
			.query(true)
			.reply((uri) => {
				sent = uri;
				return [200, { success: true, data: { calls: [] } }];
			});
		await pressTestOf({ calls: { ...SHOWN, query: { fields: ['status', 'summary'] } } });
		expect(sent).toBe('/v1/calls?fields=status&fields=summary');
	});

	const found = (calls: unknown, meta: object = {}) => ({
		calls: { success: true, data: { calls }, meta },
	});
	const CALL = { call_id: 'c' };
	const cursor = (path: string, more: object = {}) => ({
		calls: {
			...SHOWN,
			...{ query: { n: '{pageSize?}', after: '{cursor}' }, next: { cursor: path }, ...more },
		},
	});

	test.each<[string, object, object, RegExp]>([
		[
			'the list of agents',
			{ agents: { list: 'data.staff' } },
			{},
			/Reading the list of agents failed: .*no recognizable list of active agents\. In the credential, check "list" and "id" in "agents" of 'Service Profile'\./,
		],
		[
			'a wrong path to the names of agents',
			{ agents: { list: 'data', name: 'title' } },
			{},
			/Reading the list of agents failed: The response has nothing at "title"\. .*check "name" in "agents"/,
		],
		[
			'a wrong path to the call list',
			CALLS,
			{ calls: { success: true, data: { found: [] } } },
			/Reading the call list failed: The response has no list of calls at "data\.calls"\..*check "list" in "calls"/,
		],
		[
			'a filter without which the profile has no request',
			{ calls: { ...SHOWN, query: { st: '{status}' } } },
			{},
			/Reading the call list failed: The service needs \{status\} for the call list\. Fill in its field, if the node has one\. Otherwise, change "calls" .*: write \{status\?\}/,
		],
		[
			'a wrong path to the total',
			{ calls: { ...SHOWN, total: 'meta.total' } },
			found([CALL], { count: 1 }),
			/The response has nothing at "meta\.total"\. .*check "total" in "calls"/,
		],
		[
			'the cursor of a list that has more pages',
			cursor('meta.next', { total: 'meta.total' }),
			found([CALL], { total: 2, cursor: 'x' }),
			/The response has nothing at "meta\.next"\. .*check "next" in "calls"/,
		],
		[
			'an empty cursor of a list that has more pages',
			cursor('meta.previous', { total: 'meta.total' }),
			found([CALL], { total: 2, previous: null }),
			/The response has nothing at "meta\.previous"\. .*check "next" in "calls"/,
		],
		[
			'an unknown parameter of the do-not-disturb list',
			DND,
			{ numbers: { success: false, error: 'agent_not_found' } },
			/Reading do-not-disturb lists failed: .*agent_not_found.*check "query" in "dnd\.list"/,
		],
		[
			'two parts',
			{ ...CALLS, ...DND },
			{ ...found({}), numbers: { success: true, data: {} } },
			/Reading the call list failed:.*Reading do-not-disturb lists failed: The response has no list/,
		],
	])(
		'%s',
		async (_what, profile, { calls, numbers }: { calls?: object; numbers?: object }, expected) => {
			withAgents();
			if (calls) service().get('/v1/calls').query(true).reply(200, calls);
			if (numbers) service().get('/v1/dnd_numbers').query(true).reply(200, numbers);
			const { status, message } = await pressTestOf(profile);
			expect({ status, message }).toEqual({
				status: 'Error',
				message: expect.stringMatching(expected),
			});
			expect(message).toMatch(
				/^The service accepts the API token, but parts of 'Service Profile' don't work\./,
			);
			expect(message).not.toContain(TOKEN);
		},
	);

	test('with the API token in it, hides the token in the message', async () => {
		withAgents();
		const { message } = await pressTestOf({ [TOKEN]: {} });
		expect(message).toContain('unknown names: "[hidden]"');
		expect(message).not.toContain(TOKEN);
	});

	test.each([
		[{}, / Not tested: further pages of the call list \(the first response has nothing at "next"/],
		[{ next: null }, /call list$/],
		[{ next: 'abc' }, /call list$/],
	])('a list whose response has %j for the path to the cursor', async (more, expected) => {
		withAgents();
		const body = { success: true, data: { calls: [{ call_id: 'c' }] }, ...more };
		service().get('/v1/calls').query({ n: 1 }).reply(200, body);
		expect(await pressTestOf(cursor('next'))).toEqual({
			status: 'OK',
			message: expect.stringMatching(expected),
		});
	});

	const NO_AGENT = 'do-not-disturb lists (no active agent was found)';

	test.each<[string, JsonObject, object, string]>([
		['no agent is active', { success: true, data: [] }, DND, NO_AGENT],
		['the agents are not recognized', { success: true, data: { on: {} } }, DND, NO_AGENT],
		[
			'the service returns no agents',
			{ success: false, errors: ['scope is missing'] },
			{ agents: { list: 'data' } },
			"the list of agents (the service didn't return it)",
		],
	])('what is not tested if %s', async (_why, body, profile, untested) => {
		const status = body.success === true ? 200 : 422;
		service().get('/v1/active_agents').reply(status, body);
		expect(await pressTestOf(profile)).toEqual({
			status: 'OK',
			message: `The service accepts the API token. Not tested: ${untested}`,
		});
	});

	test('an invalid profile is told with all of its faults', async () => {
		withAgents();
		expect(await pressTestOf({ call_list: {}, 'dnd.add': [] })).toEqual({
			status: 'Error',
			message:
				'\'Service Profile\' in the credential isn\'t complete and correct. Correct it, or send this list to your service provider: "dnd.add" must be an object in curly brackets; the profile has unknown names: "call_list".',
		});
	});
});

describe('the token', () => {
	const credential = new VoiceChatAgentApiTokenApi();

	const authenticate = async (request: object, baseUrl: string = HOST) =>
		await credential.authenticate({ baseUrl, apiToken: TOKEN }, { url: '', ...request });

	test.each<[object, string?]>([
		[{ url: `${HOST}/v1/call` }],
		[{ url: HOST }],
		[{ url: 'HTTPS://Voice.Example.com/v1/calls?a=b' }],
		// The older options, which the HTTP Request node uses.
		[{ url: undefined, uri: `${HOST}/v1` }],
		[{ url: `${HOST}/v1`, baseURL: 'https://else.where' }],
		[{ url: `${HOST}/api/v1/call` }, `${HOST}/api/`],
		[{ url: HOST, proxy: '', rejectUnauthorized: true, agentOptions: {} }],
	])('is sent below the base URL: %j', async (options, baseUrl = HOST) => {
		const request = await authenticate({ headers: { 'X-Own': '1' }, ...options }, baseUrl);
		expect(request.headers).toEqual({ 'X-Own': '1', 'API-Token': TOKEN });
	});

	test('is not sent with a redirect by any HTTP helper of n8n', async () => {
		const request = await authenticate({ url: HOST, followRedirect: true, maxRedirects: 21 });
		expect(request).toMatchObject({
			...{ disableFollowRedirect: true, followRedirect: false },
			...{ followAllRedirects: false, maxRedirects: 0 },
		});
	});

	test.each<[object, string?]>([
		[{ url: 'https://elsewhere.example.com/v1/call' }],
		[{ url: undefined, uri: 'https://elsewhere.example.com' }],
		[{ url: '/v1/call', baseURL: HOST }],
		[{ url: '//evil.example/v1', baseURL: HOST }],
		[{ url: 'https://evil.example', baseURL: HOST }],
		[{ url: `${HOST}/apis/v1` }, `${HOST}/api`],
		[{ url: undefined }],
		[{ url: 'voice' }],
	])('is not sent to another URL: %j', async (options, baseUrl = HOST) => {
		await expect(authenticate(options, baseUrl)).rejects.toMatchObject({
			message: "The request wasn't sent, because its URL isn't below 'Base URL' in the credential",
			description: expect.stringMatching(/begin with https:/),
		});
	});

	test.each<object>([
		{ proxy: 'http://proxy.example.com:8080' },
		{ proxy: { protocol: 'http', host: 'proxy.example.com', port: 8080 } },
		{ skipSslCertificateValidation: true },
		{ rejectUnauthorized: false },
		{ agentOptions: { rejectUnauthorized: false } },
	])(
		'is not sent through a proxy of the request, or without a check of certificates: %j',
		async (options) => {
			await expect(authenticate({ url: HOST, ...options })).rejects.toMatchObject({
				message: "The request wasn't sent, because others could read the API token on its way",
				description: expect.stringContaining("'Proxy' and 'Ignore SSL Issues'"),
			});
		},
	);

	test('an invalid credential has a message', async () => {
		await expect(authenticate({ url: HOST }, 'voice')).rejects.toMatchObject({
			message: "'Base URL' in the credential isn't the URL of a service",
			description: expect.stringContaining('such as "https://'),
		});
	});
});

test('n8n hides the token', () => {
	const { properties } = loader.getCredential('voiceChatAgentApiTokenApi').type;
	expect(properties.find(({ name }) => name === 'apiToken')?.typeOptions?.password).toBe(true);
});

test('the example in Service Profile is accepted as it stands', () => {
	const { properties } = new VoiceChatAgentApiTokenApi();
	expect(properties.map(({ displayName }) => displayName.slice(0, 20))).toEqual([
		'Base URL',
		'API Token',
		'These two fields are',
		'Service Profile',
		'Opt-Out Key',
		'Finished Statuses',
	]);
	const { placeholder = '' } = properties.find(({ name }) => name === 'serviceProfile') ?? {};
	expect(Object.keys(readProfile(placeholder))).toEqual(['agents', 'dnd.add']);
});
