/** Gives every parameter of every action an empty value, or a value of the wrong type. */
import isEqual from 'lodash/isEqual';
import uniq from 'lodash/uniq';
import { engineHarness, loader, PACKAGE, speedUp } from '../../engine';
import { until } from '../../n8n/until';
import { SCENES, type Scene } from '../../operations/operations';
import { dialects } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { IS_JSON, MAY_BE_BLANK, TAKES_TRUE_AND_FALSE } from './allowed';
import { emptied, wrongValues, type UnusableValue } from './unusableValues';
import { parametersWithPaths, type ParameterLocation } from './parameterPaths';
import { essence, runScene, shownIn, withValue, writtenOutNothing } from './run';

const harness = engineHarness();
beforeAll(() => loader.loadEveryNode());
const simulator = useSimulator({ dialect: dialects.plain });

beforeEach(() => {
	speedUp(500);
});
afterEach(async () => {
	const closed = () => simulator().sessions.openSockets() === 0;
	await until('all sockets to close', closed, { every: 5 });
	jest.restoreAllMocks();
});

type Case = { scene: Scene; place: ParameterLocation };

/** The parameters that the form shows in a scene. */
function casesIn(scene: Scene): Case[] {
	const type = `${PACKAGE}.${scene.node}${scene.isTool === true ? 'Tool' : ''}`;
	return shownIn(harness, type, scene.parameters).map((place) => ({ scene, place }));
}

const nameOf = ({ scene, place }: Case) => `${scene.node} › ${place.path}`;

/** Each parameter in the first scene that shows it. Fields that only tools have are tested in a tool. */
function casesOf(node: string): Case[] {
	const cases = SCENES.filter((scene) => scene.node === node).flatMap(casesIn);
	const ofTool = (one: Case) =>
		JSON.stringify(one.place.property.displayOptions ?? {}).includes('@tool');
	const known = new Map<string, Case>();
	for (const one of cases) {
		const key = `${nameOf(one)} ${one.scene.name} ${String(one.scene.isTool === true && ofTool(one))}`;
		if (one.scene.isTool === true && !ofTool(one)) continue;
		if (!known.has(key)) known.set(key, one);
	}
	return [...known.values()];
}

/** What the node does wrong with such a value. Undefined if nothing. */
async function faultWith(one: Case, given: UnusableValue): Promise<string | undefined> {
	const { scene, place } = one;
	const name = nameOf(one);
	const { sent, message } = await runScene(
		harness,
		simulator(),
		scene,
		withValue(scene.parameters, place, given.expression),
	);
	const written = writtenOutNothing(sent);
	if (written.length > 0) return `sent ${written.join(', ')}`;
	if (message !== undefined) {
		if (sent.length > 0) return `sent ${sent.length} requests and then stopped: ${message}`;
		const isNamed = message.toLowerCase().includes(place.property.displayName.toLowerCase());
		return isNamed ? undefined : `does not name the field: ${message}`;
	}
	if (given.name === 'true' && name in TAKES_TRUE_AND_FALSE) return undefined;
	if (!given.isNothing || !(name in MAY_BE_BLANK))
		return `continues: ${JSON.stringify(sent).slice(0, 200)}`;
	const empty = withValue(scene.parameters, place, emptied(place.property));
	const { sent: wanted } = await runScene(harness, simulator(), scene, empty);
	return isEqual(essence(sent), essence(wanted))
		? undefined
		: `sent ${JSON.stringify(essence(sent))} instead of ${JSON.stringify(essence(wanted))}`;
}

const nodes = uniq(SCENES.map(({ node }) => node));

test.each(nodes)(
	'%s stops at a value of the wrong type, names the parameter, and sends nothing',
	async (node) => {
		const faults: string[] = [];
		for (const [index, one] of casesOf(node).entries()) {
			const { property } = one.place;
			const type = IS_JSON.has(property.name) ? 'json' : property.type;
			for (const given of wrongValues({ ...property, type }, index)) {
				const fault = await faultWith(one, given);
				if (fault !== undefined)
					faults.push(`${nameOf(one)} (${one.scene.name}), ${given.name}: ${fault}`);
			}
		}
		expect(faults).toEqual([]);
	},
	600_000,
);

test('every parameter of every action is shown in a scene', () => {
	const shown = new Set(SCENES.flatMap(casesIn).map(nameOf));
	const actions = loader.types.nodes.filter(({ group }) => !group.includes('trigger'));
	const missing = actions.flatMap(({ name, properties }) =>
		parametersWithPaths(properties)
			// Only tools show contacts in JSON.
			.filter(({ property }) => property.displayOptions?.show?.contactsFrom?.[0] !== 'json')
			.map(({ path }) => `${name} › ${path}`)
			.filter((place) => !shown.has(place)),
	);
	expect(missing).toEqual([]);
});
