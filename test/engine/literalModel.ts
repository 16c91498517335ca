import type { INodeProperties } from 'n8n-workflow';

/** A tool as an MCP client lists it. */
export type ListedTool = {
	description: string;
	/** JSON schemas by parameter. */
	properties: { [parameter: string]: { type?: string; description?: string } };
};

/** The value that a user wants in a parameter: in their own words, and in other forms that a model may know. */
export type Wanted = { text: string; alternatives: string[] };

/** The expression that n8n's editor writes if a person lets the model define a field: a name, no description, and a type. */
export function letModelDefine({ displayName, type }: INodeProperties): string {
	const kind = ['boolean', 'number', 'json'].includes(type) ? type : 'string';
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${keyOf(displayName)}', \`\`, '${kind}') }}`;
}

export const keyOf = (displayName: string) =>
	displayName.replaceAll(/[^a-zA-Z0-9-]/g, '_').slice(0, 63);

/**
 * The value from a model that follows name, description, and schema to the letter: it writes the user's own words,
 * unless the description has an example for the parameter and the model knows a form that looks like it.
 */
export function fillIn(tool: ListedTool, parameter: string, wanted: Wanted): unknown {
	const { type, description = '' } = tool.properties[parameter] ?? {};
	const examples = examplesOf(parameter, `${tool.description} ${description}`.trim());
	const shapes = new Set(examples.map(shapeOf));
	const written =
		[wanted.text, ...wanted.alternatives].find((form) => shapes.has(shapeOf(form))) ?? wanted.text;
	if (type === 'boolean') return /^(yes|true)/i.test(wanted.text);
	return type === 'number' ? Number(written.replaceAll(/\D/g, '')) : written;
}

/** The examples in the sentence that begins with the parameter's name. */
function examplesOf(parameter: string, description: string): string[] {
	const sentence = description
		.split(/(?<=\.) (?=\p{Lu})/u)
		.find((text) => keyOf(text.split(':')[0] ?? '') === parameter);
	const json = /JSON text such as (.*)\.$/.exec(sentence ?? '')?.[1];
	if (json !== undefined) return [json];
	return [...(sentence ?? '').matchAll(/"([^"]+)"/g)].map(([, example = '']) => example);
}

/** Equal for texts that look alike: `IN` and `US`, two session IDs, two times with an offset. */
function shapeOf(text: string): string {
	if (/^[[{]/.test(text)) return text.slice(0, 1);
	return text
		.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
		.replaceAll(/^([a-z]+)_\w+$/g, '$1_<id>')
		.replaceAll(/[a-z]+(?![a-z>])/g, 'a')
		.replaceAll(/[A-Z]/g, 'A')
		.replaceAll(/\d+/g, '9');
}
