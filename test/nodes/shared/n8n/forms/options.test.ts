import { NodeParameters } from '../../../../../nodes/shared/n8n/forms/nodeParameters';
import {
	concurrencyField,
	developerSettings,
	optionsCollection,
	readConcurrency,
} from '../../../../../nodes/shared/n8n/forms/options';
import { engineHarness, executeContext } from '../../../../engine';

const harness = engineHarness();
const FORM = [developerSettings(concurrencyField(5, ''))];

function concurrency(value?: number | string): number {
	const settings = value === undefined ? {} : { concurrency: value };
	const node = harness.node('placeCall', { parameters: { developerSettings: settings } });
	const context = executeContext(node, [{ json: {} }]);
	return readConcurrency(new NodeParameters(context, FORM), 5);
}

test.each<[number | string | undefined, number]>([
	[undefined, 5],
	[1, 1],
	['7', 7],
	[2.9, 2],
	[0, 1],
	[-3, 1],
	[100, 100],
	[101, 100],
])('Concurrency %p: %i at the same time', (value, expected) => {
	expect(concurrency(value)).toBe(expected);
});

test("n8n's AI builder isn't told that a number is off", () => {
	const number = concurrencyField(5, '');
	expect(optionsCollection(number).options).toEqual([number]);
});
