import type { INodeProperties, INodePropertyMode, INodeTypeDescription } from 'n8n-workflow';

/** Texts that don't change what a form does. */
const TEXT_KEYS = new Set(['description', 'hint', 'placeholder', 'action']);
/** Settings that are in the line itself, or in the lines below. */
const IN_THE_LINE = new Set(['displayName', 'name', 'type', 'options', 'values', 'modes']);

/** Icons, texts, and settings that n8n's loader adds. */
const NOT_THE_NODE = new Set([
	'icon',
	'iconUrl',
	'codex',
	'triggerPanel',
	'communityNodePackageVersion',
]);
const POLL_TIMES = 'pollTimes';

/** A node's description as text, one setting per line, without the texts for people. */
export function nodeText({ properties, ...settings }: INodeTypeDescription): string {
	return [
		...Object.entries(settings)
			.filter(([key]) => !TEXT_KEYS.has(key) && !NOT_THE_NODE.has(key))
			.flatMap(([key, value]) =>
				Array.isArray(value) && value.some((one) => typeof one === 'object')
					? [`${key}:`, ...value.map((one) => `  ${inline(one)}`)]
					: [`${key}: ${inline(value)}`],
			),
		'',
		formText(properties.filter(({ name }) => name !== POLL_TIMES)),
	].join('\n');
}

/** The parameters of a form as text, with indented members and choices. */
export function formText(properties: INodeProperties[]): string {
	return properties.flatMap((property) => linesOf(property)).join('\n');
}

function linesOf(property: INodeProperties): string[] {
	// The display name of a notice is its text.
	const label = property.type === 'notice' ? '' : ` “${property.displayName}”`;
	const below = [
		...settingsOf(property),
		...(property.modes ?? []).flatMap((mode) => modeLines(mode)),
		...(property.options ?? []).flatMap((option) => {
			if ('values' in option) {
				const members = option.values.flatMap((one) => linesOf(one));
				return [`group ${option.name} “${option.displayName}”`, ...indented(members)];
			}
			if ('type' in option) return linesOf(option);
			return [`choice ${inline(option.value)} “${option.name}”`, ...indented(settingsOf(option))];
		}),
	];
	return [`${property.name}${label} ${property.type}`, ...indented(below)];
}

function modeLines(mode: INodePropertyMode): string[] {
	return [`mode ${mode.name} “${mode.displayName}” ${mode.type}`, ...indented(settingsOf(mode))];
}

function settingsOf(of: object): string[] {
	return Object.entries(of)
		.filter(([key]) => !TEXT_KEYS.has(key) && !IN_THE_LINE.has(key) && key !== 'value')
		.map(([key, value]) => `${key}: ${inline(value)}`);
}

const indented = (lines: string[]) => lines.map((line) => `  ${line}`);

/** A value as JSON. Words and expressions have no quotes. */
function inline(value: unknown): string {
	if (typeof value === 'string') return /^[\w./-]+$|^=/.test(value) ? value : JSON.stringify(value);
	return JSON.stringify(value, (key, one: unknown) => (TEXT_KEYS.has(key) ? undefined : one));
}
