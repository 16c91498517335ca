import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import { loader } from '../engine';

/** Saved workflows depend on these names. */
export const NODES = [
	'agents',
	'callCompletedTrigger',
	'campaignCallsTrigger',
	'campaignStatus',
	'chatDeliveryTrigger',
	'chatEventsTrigger',
	'chatSend',
	'chatSession',
	'dnd',
	'getCall',
	'injectContext',
	'placeCall',
	'pushCampaignContacts',
];

/** A parameter, its path in the form, and the parameters on its level and above. */
export type Parameter = {
	place: string;
	property: INodeProperties;
	/** Names that its displayOptions may refer to. */
	visible: INodeProperties[];
};

/** Every parameter of a form, including members of collections. */
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

/** Every parameter of the nodes and the credential. n8n adds 'Poll Times' to polling triggers. */
export function allParameters(): Parameter[] {
	const nodes = loader.types.nodes.flatMap(({ properties, displayName }) =>
		parametersIn(
			properties.filter(({ name }) => name !== 'pollTimes'),
			displayName,
		),
	);
	const { properties } = loader.getCredential(CREDENTIAL).type;
	return [...nodes, ...parametersIn(properties, 'Credential')];
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

/** Properties for people and models. */
export const TEXTS = new Set([
	'displayName',
	'description',
	'hint',
	'placeholder',
	'action',
	'builderHint',
	'subtitle',
	'documentationUrl',
]);
