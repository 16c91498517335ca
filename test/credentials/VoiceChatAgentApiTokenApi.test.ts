import { createServer, type RequestListener, type Server } from 'node:http';
import { CredentialTestContext } from 'n8n-core';
import type { ICredentialDataDecryptedObject, INodeCredentialTestResult } from 'n8n-workflow';
import nock from 'nock';
import { VoiceChatAgentApiTokenApi } from '../../credentials/VoiceChatAgentApiTokenApi.credentials';
import { clock } from '../../nodes/shared/n8n/connect';
import { voiceChatAgentApiTest } from '../../nodes/shared/n8n/credentialTest';
import { OPEN_DETAIL_TOPICS } from '../../nodes/shared/service/openDetails';
import { engineRing, HOST, loader, makeAdditionalData, service, TOKEN } from '../engine';

const ring = engineRing();

/** The button "Test" of the credential form, through n8n-core's own context. */
async function pressTest(data: ICredentialDataDecryptedObject): Promise<INodeCredentialTestResult> {
	const context = new CredentialTestContext(makeAdditionalData(ring.credentials, 'internal'));
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
		['a short token', { apiToken: 'short' }, /5 characters.*has 16.*copy the whole token/],
		['a token with a gap', { apiToken: 'tok-012345 789ab' }, /16/],
	])('%s: nothing is sent', async (_name, data, message) => {
		expect(await pressTest(data)).toEqual({
			status: 'Error',
			message: expect.stringMatching(message),
		});
	});

	test.each<[string, number, object | string, RegExp]>([
		['401', 401, { success: false, error: 'Invalid API token' }, /does not accept the API token/],
		['the 401 text at 200', 200, { success: false, error: 'Invalid API token' }, /not accept/],
		['a redirect', 302, '', /redirect, which is never followed/],
		['an HTML page', 200, '<html>Welcome</html>', /web page came back.*Base URL/],
		['an HTML 404', 404, '<html>Not here</html>', /does not find.*Base URL/],
	])('%s', async (_name, status, body, message) => {
		service()
			.get('/v1/active_agents')
			.reply(status, body, status === 302 ? { location: 'https://elsewhere.example.com' } : {});
		const result = await pressTest({});
		expect(result).toEqual({ status: 'Error', message: expect.stringMatching(message) });
		expect(JSON.stringify(result)).not.toContain(TOKEN);
	});

	test('an unknown host and a certificate that cannot be verified', async () => {
		const fault = (code: string) => Object.assign(new Error(code), { code });
		nock(HOST).get('/v1/active_agents').replyWithError(fault('DEPTH_ZERO_SELF_SIGNED_CERT'));
		expect(await pressTest({})).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/certificate could not be verified/),
		});
		nock(HOST).get('/v1/active_agents').times(4).replyWithError(fault('ENOTFOUND'));
		const sleep = jest.spyOn(clock, 'sleep').mockResolvedValue();
		expect(await pressTest({})).toMatchObject({
			status: 'Error',
			message: expect.stringMatching(/cannot be reached.*Base URL/),
		});
		expect(sleep).toHaveBeenCalledTimes(3);
		sleep.mockRestore();
	});
});

describe('the token', () => {
	const credential = new VoiceChatAgentApiTokenApi();
	const data = { baseUrl: HOST, apiToken: TOKEN };

	test('goes along to the base URL', async () => {
		const request = await credential.authenticate(data, { url: `${HOST}/v1/call` });
		expect(request.headers).toEqual({ 'API-Token': TOKEN });
	});

	test.each([
		'https://elsewhere.example.com/v1/call',
		'https://voice.example.com.evil.example/v1/call',
		'https://voice.example.community/v1/call',
	])('stays at home for %s', async (url) => {
		expect(await credential.authenticate(data, { url })).toEqual({ url });
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
	for (const { switchName, fields } of OPEN_DETAIL_TOPICS) {
		for (const name of Object.keys(fields)) {
			expect(type.properties.find((property) => property.name === name)).toMatchObject({
				default: '',
				displayOptions: { show: { [switchName]: [true] } },
			});
		}
	}
	expect(type.properties.find(({ name }) => name === 'apiToken')?.typeOptions?.password).toBe(true);
});
