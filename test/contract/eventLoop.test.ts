import isEmpty from 'lodash/isEmpty';
import omit from 'lodash/omit';
import uniqBy from 'lodash/uniqBy';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../nodes/host/clock';
import { loader, runNode } from '../engine';
import { isObject } from '../engine/isObject';
import { isJsonObject } from '../../nodes/core/values/json';
import { operationNamed, SCENES, TRIGGER, type Scene } from '../operations/operations';
import { simulatedNodes } from './simulatedNodes';

const { simulator, nodeOf } = simulatedNodes();

/** Enough to detect a loop that doesn't yield, and few enough to send them one by one. */
const ITEMS = 30;
/** The work for one item. A loop pauses after 10 ms. */
const MS_PER_ITEM = 1;
/** Two loops may continue in the same iteration of the event loop. */
const MAX_ITEMS_WITHOUT_PAUSE = 25;
/** The work for all items so far, in milliseconds. */
let work = 0;

/** Names of fields that don't accept expressions. */
function fieldsWithoutExpressions(form: unknown): string[] {
	if (Array.isArray(form)) return form.flatMap(fieldsWithoutExpressions);
	if (!isJsonObject(form)) return [];
	const own = form.noDataExpression === true && typeof form.name === 'string' ? [form.name] : [];
	return [...own, ...Object.values(form).flatMap(fieldsWithoutExpressions)];
}

/** Converts each value of the parameters to an expression, which n8n evaluates for each item. */
function byExpression(value: unknown, toExpression: ToExpression, fixed: Set<string>): unknown {
	if (typeof value === 'string')
		return toExpression(/^=\{\{(.*)\}\}$/.exec(value)?.[1] ?? JSON.stringify(value));
	if (Array.isArray(value)) return value.map((inner) => byExpression(inner, toExpression, fixed));
	if (!isJsonObject(value)) return toExpression(JSON.stringify(value));
	return Object.fromEntries(
		Object.entries(value).map(([name, inner]) => [
			name,
			fixed.has(name) ? inner : byExpression(inner, toExpression, fixed),
		]),
	);
}

const parametersIn = (value: unknown) => z.custom<INodeParameters>(isObject).parse(value);

/** Items that count how many of them are read without a yield to the event loop. */
function watchedItems(like: readonly object[]) {
	const read = new Set<number>();
	let readWithoutYield = new Set<number>();
	let max = 0;
	const items = [...Array(ITEMS).keys()].map((index): INodeExecutionData => {
		const json = { ...like[index % like.length] };
		// Not enumerable, so that copies of the item don't read it.
		Object.defineProperty(json, 'read', {
			get: () => {
				read.add(index);
				readWithoutYield.add(index);
				work += MS_PER_ITEM;
				max = Math.max(max, readWithoutYield.size);
				return 1;
			},
		});
		return { json };
	});
	let next: NodeJS.Immediate;
	const onIteration = (): void => {
		readWithoutYield = new Set();
		next = setImmediate(onIteration);
	};
	next = setImmediate(onIteration);
	return { items, counts: () => ({ read: read.size, max }), stop: () => clearImmediate(next) };
}

/** A way without parameters reads no item. */
const readsItems = ({ parameters }: Scene) => !isEmpty(omit(parameters, 'resource', 'operation'));

/** The first way to use each operation. Requests to a trigger in n8n need one. */
const cases = uniqBy(SCENES.filter(readsItems), 'name').filter(({ sends }) => sends !== TRIGGER);

const isShared = ({ name }: Scene) => operationNamed(name).servesAllItems === true;

const onError = 'continueRegularOutput' as const;

type ToExpression = (code: string) => string;

beforeEach(() => {
	jest.spyOn(clock, 'sleep').mockImplementation(async () => {});
	const start = performance.now();
	jest.spyOn(performance, 'now').mockImplementation(() => start + work);
});
afterEach(() => jest.restoreAllMocks());

const unchanged = (code: string) => `={{ [$json.read, ${code}][1] }}`;
const undefinedValue = () => '={{ [$json.read][1] }}';

async function expectYields(scene: Scene, toExpression: ToExpression) {
	scene.prepare?.(simulator());
	const fixed = new Set([
		'__rl',
		'mode',
		// Without one of its choices, a push stops at its first row.
		'whatToDo',
		...fieldsWithoutExpressions(loader.getNode(scene.node).type.description),
	]);
	const parameters = parametersIn(byExpression(scene.parameters, toExpression, fixed));
	const node = { ...(await nodeOf(scene.node, parameters)), onError };
	const watched = watchedItems((scene.items ?? [{ json: {} }]).map(({ json }) => json));
	await runNode(node, watched.items);
	watched.stop();
	const { read, max } = watched.counts();
	expect(read).toBe(ITEMS);
	expect(max).toBeLessThanOrEqual(MAX_ITEMS_WITHOUT_PAUSE);
}

describe('yields to the event loop between items', () => {
	test.each(cases)('if no item can be sent: $name', async (scene) => {
		await expectYields(scene, undefinedValue);
	});

	test.each(cases.filter(isShared))('if one request serves all items: $name', async (scene) => {
		await expectYields(scene, unchanged);
	});
});
