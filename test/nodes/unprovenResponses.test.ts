import { inspect } from 'node:util';
import uniqBy from 'lodash/uniqBy';
import nock from 'nock';
import { credentialFor } from '../contract/credentialFor';
import { engineHarness, HOST, runNode, TOKEN, records, useNoWaits } from '../engine';
import { isResponseShown } from '../openapi/openapi';
import { operationNamed, SCENES, SOCKET, TRIGGER, type Scene } from '../operations/operations';
import { dialects } from '../simulator';

const harness = engineHarness();

/** Every operation that changes something, once for each of its requests. */
const WRITES = uniqBy(
	SCENES.filter(({ sends }) => sends !== undefined && sends !== TRIGGER),
	({ name, sends }) => `${name}, ${sends}`,
).map((scene) => ({ ...scene, sends: String(scene.sends) }));
const REQUESTS = WRITES.filter(({ sends }) => sends !== SOCKET);

/** Every endpoint with every kind of response: test/nodes/core/service/everyResponse. */
const NO_PROOF: Array<[status: number, text: string]> = [
	[200, '{"data":[],"error":"The agent is suspended"}'],
];
const BARE: [status: number, text: string] = [200, '{"success":true}'];

/** The last attempt reads what the first one stored of its rows. */
const UNKNOWN: { [name: string]: string } = {
	pushCampaignContacts: '1 row may or may not be in the campaign',
};

useNoWaits();

/** Runs the node with a service that returns this response to every request. */
async function run(
	{ node: type, parameters, items = [{ json: {} }] }: Scene,
	status: number,
	text: string,
) {
	const credential = credentialFor({ baseUrl: HOST, token: TOKEN, dialect: dialects.plain });
	const requests: string[] = [];
	for (const method of ['GET', 'POST', 'DELETE']) {
		nock(HOST)
			.persist()
			.intercept(/./, method)
			.optionally()
			.reply((uri) => {
				requests.push(`${method} ${uri}`);
				return [status, text] as const;
			});
	}
	const node = await harness.nodeWith(credential, type, {
		parameters,
		retryOnFail: true,
		maxTries: 3,
		waitBetweenTries: 1,
	});
	const result = await runNode(node, items);
	nock.cleanAll();
	expect(inspect(result, { depth: Infinity })).not.toContain(TOKEN);
	const { error } = result.data.resultData;
	return { requests, error, items: records(result) };
}

describe.each(REQUESTS)('$name, $sends', ({ sends, ...scene }) => {
	const noProof = isResponseShown(sends) ? [...NO_PROOF, BARE] : NO_PROOF;

	test.each(noProof)(
		'%i %s: the outcome is unknown, and Retry On Fail sends it again only if twice does no harm',
		async (status, text) => {
			const { requests, error, items } = await run(scene, status, text);
			expect(items).toEqual([]);
			expect(error?.message).toContain(UNKNOWN[scene.name] ?? 'so the outcome is unknown');
			expect(error?.description).not.toContain('The service said');
			expect(requests).toHaveLength(operationNamed(scene.name).isHarmlessTwice ? 3 : 1);
		},
	);
});

test.each(REQUESTS.filter(({ sends }) => !isResponseShown(sends)))(
	'$name, $sends: {"success":true} is a success',
	async (scene) => {
		const { requests, error, items } = await run(scene, ...BARE);
		expect(error).toBeUndefined();
		expect(items).toHaveLength(1);
		expect(requests).toHaveLength(1);
	},
);

test.each(WRITES.filter(({ sends }) => sends === SOCKET))(
	'$name, $sends: {"success":true} has no token, so nothing is sent',
	async (scene) => {
		const { requests, error, items } = await run(scene, ...BARE);
		expect(items).toEqual([]);
		expect(error?.message).toMatch(/has no WebSocket token or URL, so nothing was sent$/);
		expect(requests.every((request) => request.endsWith('/ws_token'))).toBe(true);
	},
);
