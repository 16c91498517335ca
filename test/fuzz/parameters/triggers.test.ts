/** Gives every parameter of every trigger an empty value, or a value of the wrong type. */
import type { INodeParameters } from 'n8n-workflow';
import { isJsonObject } from '../../../nodes/shared/json';
import { plainText } from '../../../nodes/shared/values';
import { simulatedNodes } from '../../contract/simulatedNodes';
import {
	activate,
	type ActiveWorkflow,
	loader,
	makeWorkflow,
	nodeTypes,
	PACKAGE,
	skipSleeps,
	webhookContext,
	webhookTrigger,
} from '../../engine';
import { fixtures } from '../../simulator';
import { printCounts } from '../runs';
import { emptied, UNUSABLE_VALUES, isOfItsType, type UnusableValue } from './unusableValues';
import { isShown, parametersWithPaths, type ParameterLocation } from './parameterPaths';
import { filledIn, withValue } from './run';

const { calls, campaigns, sessions, uploads } = fixtures;

const POLL = { pollTimes: { item: [{ mode: 'everyMinute' }] } };

/** Ways to use each trigger, which read the fields that its form shows. */
const SCENES: { [node: string]: INodeParameters[] } = {
	callCompletedTrigger: [{}],
	campaignCallsTrigger: [
		{ callsOf: 'lists', contactListIds: String(uploads.running), ...POLL },
		{ campaignId: String(campaigns.active), ...POLL },
	],
	campaignProgressTrigger: [{ campaignId: String(campaigns.active), ...POLL }],
	chatDeliveryTrigger: [{ secret: 'sesame' }],
	chatEventsTrigger: [
		{ sessionIds: sessions.open },
		{ sessionIds: sessions.open, sessions: 'watched', watchSecret: 'sesame' },
	],
};

/** A request to the URL of a trigger. */
const REQUEST = { body: { call_id: calls.finished }, query: { secret: 'sesame' } };

/** For requests to its URL, only the secret is read. */
const WATCHING = 'chatEventsTrigger';

const { harness, simulator, nodeOf } = simulatedNodes();
const counts = { published: 0, requests: 0 };

beforeEach(skipSleeps);
afterEach(() => jest.restoreAllMocks());
afterAll(() => {
	printCounts('Parameters of triggers with empty or wrong values', counts);
});

type Case = { node: string; parameters: INodeParameters; place: ParameterLocation };

/** The parameters that the form shows, without duplicates. */
function casesOf(node: string): Case[] {
	const { description } = nodeTypes.getByNameAndVersion(`${PACKAGE}.${node}`);
	const known = new Map<string, Case>();
	for (const parameters of SCENES[node] ?? []) {
		for (const place of parametersWithPaths(description.properties)) {
			const type = `${PACKAGE}.${node}`;
			const changed = withValue(parameters, place, emptied(place.property));
			const filled = filledIn(harness.node('', { type, parameters: changed }));
			if (isShown(place, filled, description)) known.set(place.path, { node, parameters, place });
		}
	}
	return [...known.values()];
}

async function started(type: string, parameters: INodeParameters): Promise<ActiveWorkflow | Error> {
	try {
		const workflow = makeWorkflow([await nodeOf(type, parameters)]);
		return await activate(harness.credentials, workflow);
	} catch (error) {
		return error instanceof Error ? error : new Error(String(error));
	}
}

/** What the trigger does wrong if the workflow is published with such a value. Undefined if nothing. */
async function faultOfPublishing(one: Case, given: UnusableValue): Promise<string | undefined> {
	const { node, parameters, place } = one;
	simulator().reset();
	const active = await started(node, withValue(parameters, place, given.expression));
	counts.published++;
	if (!(active instanceof Error)) {
		await active.stop();
		return 'is published';
	}
	if (simulator().requests.length > 0) return `sent requests and then stopped: ${active.message}`;
	const { displayName } = place.property;
	return active.message.includes(displayName) ? undefined : `does not name it: ${active.message}`;
}

/** The same for a request to a webhook trigger after the value has changed. */
async function faultOfDelivery(
	{ node: type, parameters, place }: Case,
	given: UnusableValue,
): Promise<string | undefined> {
	const changed = await nodeOf(type, withValue(parameters, place, given.expression));
	const { deliver } = webhookTrigger(harness.credentials, changed);
	counts.requests++;
	simulator().reset();
	const delivered = await deliver(REQUEST).catch((error: unknown) => ({ error }));
	if ('items' in delivered && delivered.items.length > 0) return 'starts';
	if (simulator().requests.length > 0) return 'sends a request to the service';
	const error = 'error' in delivered ? delivered.error : delivered.execution?.data.resultData.error;
	const message = isJsonObject(error) ? plainText(error.message ?? '') : '';
	return message.includes(place.property.displayName)
		? undefined
		: `does not report it: ${message}`;
}

/** The same for a request to the watch URL. */
async function faultOfRequest(one: Case, given: UnusableValue): Promise<string | undefined> {
	const { node, parameters, place } = one;
	const active = await started(node, parameters);
	if (active instanceof Error) throw active;
	simulator().reset();
	try {
		const changed = await nodeOf(node, withValue(parameters, place, given.expression));
		const workflow = makeWorkflow([changed]);
		const { context, response } = webhookContext(harness.credentials, workflow, changed, REQUEST);
		const type = nodeTypes.getByNameAndVersion(changed.type);
		const result = await type.webhook?.call(context);
		counts.requests++;
		if (response.statusCode !== 503) return `returns ${response.statusCode}`;
		if (!JSON.stringify(response.body).includes(place.property.displayName)) {
			return 'does not report it to the sender';
		}
		if (result?.workflowData !== undefined || active.emitted.length > 0) return 'starts';
		if (simulator().requests.length > 0) return 'sends a request to the service';
	} finally {
		await active.stop();
	}
	return undefined;
}

/** The faults of all cases with all values of the wrong type. */
async function faultsOf(
	cases: Case[],
	faultOf: (one: Case, given: UnusableValue) => Promise<string | undefined>,
): Promise<string[]> {
	const faults: string[] = [];
	for (const one of cases) {
		for (const given of UNUSABLE_VALUES.filter(
			(value) => !isOfItsType(one.place.property, value),
		)) {
			const fault = await faultOf(one, given);
			if (fault !== undefined) faults.push(`${one.place.path}, ${given.name}: ${fault}`);
		}
	}
	return faults;
}

test.each(Object.keys(SCENES))(
	'%s is not published with a parameter value of the wrong type',
	async (node) => {
		expect(await faultsOf(casesOf(node), faultOfPublishing)).toEqual([]);
	},
);

test.each(['callCompletedTrigger', 'chatDeliveryTrigger'])(
	'%s passes nothing on and reports it if a parameter value later has the wrong type',
	async (node) => {
		expect(await faultsOf(casesOf(node), faultOfDelivery)).toEqual([]);
	},
);

test(`${WATCHING} starts nothing and reports it to the sender if the secret later has the wrong type`, async () => {
	const read = casesOf(WATCHING).filter(({ place }) => place.path === 'watchSecret');
	expect(await faultsOf(read, faultOfRequest)).toEqual([]);
});

test('every parameter of every trigger is shown in a scene', () => {
	const triggers = loader.types.nodes.filter(({ group }) => group.includes('trigger'));
	const missing = triggers.flatMap(({ name, properties }) => {
		const shown = casesOf(name).map(({ place }) => place.path);
		return parametersWithPaths(properties)
			.filter(({ path }) => !shown.includes(path))
			.map(({ path }) => `${name} › ${path}`);
	});
	expect(missing).toEqual([]);
});
