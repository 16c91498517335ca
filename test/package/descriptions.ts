import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';

/** A parameter, the way to it in the form, and those that stand beside it and above it. */
export type Parameter = {
	place: string;
	property: INodeProperties;
	/** Names that its displayOptions may refer to. */
	visible: INodeProperties[];
};

/** Every parameter of a form, members of collections included. */
export function parametersIn(
	properties: INodeProperties[],
	place: string,
	above: INodeProperties[] = [],
): Parameter[] {
	return properties.flatMap((property) => {
		const here = `${place} › ${property.displayName}`;
		const visible = [...properties, ...above];
		return [{ place: here, property, visible }, ...membersOf(property, here, visible)];
	});
}

function membersOf(property: INodeProperties, place: string, visible: INodeProperties[]) {
	return (property.options ?? []).flatMap((option) => {
		if ('values' in option)
			return parametersIn(option.values, `${place} › ${option.displayName}`, visible);
		return 'type' in option ? parametersIn([option], place, visible) : [];
	});
}

/** The choices of an `options` or `multiOptions` parameter. */
export function choicesOf({ options = [] }: INodeProperties): INodePropertyOptions[] {
	return options.filter((option): option is INodePropertyOptions => isChoice(option));
}

function isChoice(
	option: INodeProperties | INodePropertyOptions | INodePropertyCollection,
): option is INodePropertyOptions {
	return 'value' in option && !('type' in option);
}

const SMALL_WORDS =
	/^(a|an|and|as|at|but|by|for|from|if|in|into|nor|of|on|or|over|per|the|to|up|vs|via|with)$/;

/** Words that do not begin with a capital where Title Case wants one. */
export function notInTitleCase(title: string): string[] {
	const words = title
		.split(/[\s/]+/)
		.map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
	return words.filter(
		(word, index) =>
			/^\p{Ll}(?![’'])/u.test(word) &&
			!(index > 0 && index < words.length - 1 && SMALL_WORDS.test(word)),
	);
}

/** Whether a description ends with a full stop exactly when it has more than one sentence. */
export function endsWell(description: string): boolean {
	const sentences = description.replace(/\.$/, '').split(/[.?!] (?=\p{Lu}|“)/u).length;
	return description.endsWith('.') === sentences > 1;
}

const TEXTS = new Set([
	'displayName',
	'description',
	'hint',
	'placeholder',
	'action',
	'subtitle',
	'documentationUrl',
]);

/** The ways to the texts of a form that hold nothing: where there is nothing to say, there is no text. */
export function emptyTexts(form: object, place: string): string[] {
	return Object.entries(form).flatMap(([name, part]: [string, unknown]) => {
		const here = `${place} › ${name}`;
		if (typeof part === 'object' && part !== null) return emptyTexts(part, here);
		return TEXTS.has(name) && part === '' ? [here] : [];
	});
}
