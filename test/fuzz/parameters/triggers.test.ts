/** Gives every parameter of every trigger an empty value, or a value of the wrong type. */
import type { INodeParameters } from 'n8n-workflow';
import { simulatedNodes } from '../../contract/simulatedNodes';
import { activate, loader, makeWorkflow, PACKAGE, skipSleeps } from '../../engine';
import { fixtures } from '../../simulator';
import { wrongValues, type UnusableValue } from './unusableValues';
import { parametersWithPaths, type ParameterLocation } from './parameterPaths';
import { shownIn, withValue } from './run';

const { campaigns, sessions } = fixtures;

const POLL = { pollTimes: { item: [{ mode: 'everyMinute' }] } };

/** Ways to use each trigger, which read the fields that its form shows. */
const SELECTED = { output: 'selected', selectedFields: 'call_id' };

const SCENES: { [node: string]: INodeParameters[] } = {
	callCompletedTrigger: [SELECTED],
	campaignCallsTrigger: [
		{ campaignId: String(campaigns.active), ...SELECTED, ...POLL },
		{ campaignId: String(campaigns.active), startFrom: 'date', startDate: '2026-01-01', ...POLL },
	],
	chatDeliveryTrigger: [{ secret: 'sesame' }],
	chatEventsTrigger: [
		{ sessionIds: sessions.open },
		{ sessionIds: sessions.open, sessions: 'watched', watchSecret: 'sesame' },
	],
};

const { harness, simulator, nodeOf } = simulatedNodes();
beforeAll(() => loader.loadEveryNode());

beforeEach(skipSleeps);
afterEach(() => jest.restoreAllMocks());

type Case = { parameters: INodeParameters; place: ParameterLocation };

/** The parameters that the form shows, without duplicates. */
function casesOf(node: string): Case[] {
	const known = new Map<string, Case>();
	for (const parameters of SCENES[node] ?? []) {
		for (const place of shownIn(harness, `${PACKAGE}.${node}`, parameters)) {
			known.set(place.path, { parameters, place });
		}
	}
	return [...known.values()];
}

/** What the trigger does wrong if the workflow is published with such a value. Undefined if nothing. */
async function faultWith(
	node: string,
	{ parameters, place }: Case,
	given: UnusableValue,
): Promise<string | undefined> {
	simulator().reset();
	try {
		const changed = await nodeOf(node, withValue(parameters, place, given.expression));
		const active = await activate(makeWorkflow([changed]));
		await active.stop();
		return 'is published';
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		if (simulator().requests.length > 0) return `sent requests and then stopped: ${message}`;
		const isNamed = message.includes(place.property.displayName);
		return isNamed ? undefined : `does not name it: ${message}`;
	}
}

test.each(Object.keys(SCENES))(
	'%s is not published with a parameter value of the wrong type',
	async (node) => {
		const faults: string[] = [];
		for (const [index, one] of casesOf(node).entries()) {
			const { property, path } = one.place;
			for (const given of wrongValues(property, index)) {
				const fault = await faultWith(node, one, given);
				if (fault !== undefined) faults.push(`${path}, ${given.name}: ${fault}`);
			}
		}
		expect(faults).toEqual([]);
	},
);

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
