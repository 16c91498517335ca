/** Checks the tool result if a request fails: each action as a tool, with each kind of failure. */
import memoize from 'lodash/memoize';
import pick from 'lodash/pick';
import uniqBy from 'lodash/uniqBy';
import type { IDataObject } from 'n8n-workflow';
import nock from 'nock';
import { z } from 'zod';
import { TOOL_LIMITS } from '../../../../nodes/host/caller/caller';
import { credentialFor } from '../../../contract/credentialFor';
import { engineHarness, engineTool, HOST } from '../../../engine';
import { skipSleeps } from '../../../engine/time';
import { DOCUMENTED } from '../../../openapi/errors';
import { endpointOf } from '../../../openapi/openapi';
import {
	isRead,
	requestsOf,
	SCENES,
	TRIGGER_URL,
	type Scene,
} from '../../../operations/operations';
import { dialects } from '../../../simulator';
import { useSimulator } from '../../../simulator/testing/useSimulator';

const harness = engineHarness();
const simulator = useSimulator({ dialect: dialects.plain });

beforeEach(() => {
	skipSleeps();
	jest.replaceProperty(TOOL_LIMITS, 'waitMs', 1_000);
});
afterEach(() => {
	jest.restoreAllMocks();
	nock.cleanAll();
});
type Failing = [status: number, body: string | IDataObject, headers?: Record<string, string>];

const rejection = (error: string, more: IDataObject = {}) => ({ success: false, error, ...more });

/** Failures of any request. */
const OUTAGES: { [what: string]: Failing | { code: string } } = {
	'too many requests': [429, ''],
	'a gateway without a service': [503, 'unavailable'],
	'a crash of the service': [500, rejection('Internal server error')],
	'a wrong token': [401, rejection('Invalid API token')],
	'a firewall': [403, '<html>forbidden</html>'],
	'a rejected field': [422, { success: false, errors: ['message is too long'] }],
	'a redirect': [308, '', { location: 'https://elsewhere.example.com/' }],
	'a web page': [200, '<html>Sign in</html>'],
	'an empty success': [200, ''],
	'a connection that is refused': { code: 'ECONNREFUSED' },
	'a connection that breaks': { code: 'ECONNRESET' },
	'a certificate that is not trusted': { code: 'CERT_HAS_EXPIRED' },
};

/** Fields that decide which request is sent. */
const REQUEST_FIELDS = ['sendingMethod', 'recordingAs', 'options.waitMinutes', 'contactsFrom'];

/** What only the owner of the workflow can change. */
const OF_THE_OWNER = /\b(credential|publish\w*)\b|'(Base URL|API Token|Service Profile|Settings)'/;
const isUnmarked = (sentence: string) =>
	OF_THE_OWNER.test(sentence) && !sentence.startsWith('In n8n, ');
const FORBIDS =
	/\bdo not (ask|read|repeat|request|send)\b|may have (been (done|completed)|taken effect)/i;
const DONE = /It is done|The request was completed|already did this/;
const OWNER = 'the person who set up this tool';

const scenes = uniqBy(
	SCENES.filter(
		({ name, items = [] }) =>
			// Never sends anything as a tool.
			name !== 'dnd › forget' && !items.some(({ binary }) => binary !== undefined),
	),
	// Scenes that differ only in the values that they send get the same result.
	(scene) => JSON.stringify([scene.name, pick(scene.parameters, REQUEST_FIELDS)]),
);

/** Reads, changes, and live connections of each node. Those of one have the same words for an error. */
const ofEachNode = (among: Scene[]) =>
	uniqBy(among, ({ node, name, parameters }) =>
		JSON.stringify([node, isRead(name), parameters.sendingMethod]),
	);

/** The same of any node. The words for what isn't special for a node are the same in all of them. */
const ofEachKind = (among: Scene[]) =>
	uniqBy(among, ({ name, parameters }) => JSON.stringify([isRead(name), parameters.sendingMethod]));

/** The scenes with a request to one of these endpoints. */
const scenesTo = (endpoints: readonly string[]) =>
	scenes.filter((scene) =>
		requestsOf(scene, dialects.plain).some((request) => {
			const [method = '', path = ''] = request.split(' ');
			return endpoints.includes(endpointOf(method, path));
		}),
	);

const toolWords = z.object({
	outcome: z.string(),
	what_happened: z.string(),
	next_step: z.string(),
});
type ToolWords = z.infer<typeof toolWords>;

function respondTo(failing: Failing | { code: string }): void {
	for (const origin of [HOST, new URL(TRIGGER_URL).origin]) {
		for (const method of ['GET', 'POST', 'DELETE']) {
			const any = nock(origin).persist().intercept(/.*/, method).optionally();
			if (Array.isArray(failing)) {
				const [status, body, headers] = failing;
				any.reply(status, body, headers);
			} else any.replyWithError(Object.assign(new Error(failing.code), failing));
		}
	}
}

const nodeOf = memoize(async ({ node, parameters }: Scene) => {
	const details = { ...credentialFor(simulator()), baseUrl: HOST };
	return await harness.nodeWith(details, node, { parameters });
});

async function resultOf(scene: Scene): Promise<ToolWords> {
	const row = scene.items?.[0]?.json ?? {};
	return toolWords.parse(await engineTool(await nodeOf(scene), { row })());
}

/** Faults in the tool result. */
function faultsIn(scene: Scene, result: ToolWords, failing: Failing | { code: string }) {
	const { outcome, what_happened: happened, next_step: next } = result;
	const words = `${happened} ${next}`;
	const isOfRead = isRead(scene.name);
	const isTooMany = Array.isArray(failing) && failing[0] === 429;
	return [
		next.split(/(?<=[.?!]) (?=[A-Z])/).some(isUnmarked) &&
			'advice for the owner that does not begin with "In n8n,"',
		DONE.test(words) && 'says that it is done',
		/\bthe person\b/i.test(words.replaceAll(OWNER, '')) && 'an unclear person',
		isOfRead && FORBIDS.test(words) && 'forbids a read',
		isOfRead && outcome === 'unknown' && 'a read of unknown outcome',
		isTooMany && !/\bwait\b/i.test(next) && 'no pause',
		isTooMany && words.includes(OWNER) && 'blames the owner',
		next.trim().length < 10 && 'nothing to do',
	].filter((fault) => fault !== false);
}

const SUCCEEDS = ['done', 'already_done', 'partly_done'];

/** Each way to fail, in all scenes: a rejection, an unknown outcome, and a request that wasn't sent. */
const IN_ALL_SCENES = [
	'a rejected field',
	'a connection that breaks',
	'a connection that is refused',
];

const FAILURES = [
	...Object.entries(OUTAGES).map(([what, failing]) => {
		return { what, failing, tools: IN_ALL_SCENES.includes(what) ? scenes : ofEachKind(scenes) };
	}),
	// Errors of the service, of which the document shows the endpoints.
	...uniqBy(DOCUMENTED, ([code]) => code).map(([what, raisedBy, body, [status = 404] = []]) => {
		const failing: Failing = [status, { success: false, ...body }];
		return { what, failing, tools: ofEachNode(scenesTo(raisedBy)) };
	}),
	{
		what: 'an archived campaign',
		failing: [409, rejection('Campaign is archived')] satisfies Failing,
		tools: ofEachNode(scenesTo(['POST /v1/campaigns/{id}/contacts'])),
	},
];

test.each(FAILURES)('explains to a model: $what', async ({ failing, tools }) => {
	const faults: unknown[] = [];
	let failed = 0;
	respondTo(failing);
	for (const scene of tools) {
		const result = await resultOf(scene);
		if (SUCCEEDS.includes(result.outcome)) continue;
		failed++;
		const found = faultsIn(scene, result, failing);
		if (found.length > 0) faults.push({ tool: scene.name, found, ...result });
	}
	expect(faults).toEqual([]);
	expect(failed).toBeGreaterThan(tools.length / 2);
});

test('the scenes include the reads of the package', () => {
	expect(scenes.filter(({ name }) => isRead(name)).length).toBeGreaterThan(10);
});
