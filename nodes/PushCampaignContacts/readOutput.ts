import type { IExecuteFunctions, INode, NodeInputConnections } from 'n8n-workflow';

/** The method of n8n's context for the connections that lead to a node, by its inputs. */
type WithConnections = {
	getConnections: (to: Pick<INode, 'name'>, type: 'main') => NodeInputConnections;
};

/**
 * Whether a node reads an output of this node. n8n's documented functions only name the nodes after a node, not the output
 * that leads to them, but its context has the connections of each node. Without them, the output counts as unread.
 */
export function isOutputRead(context: IExecuteFunctions, index: number): boolean {
	if (!hasConnections(context)) return false;
	const { name } = context.getNode();
	return context.getChildNodes(name).some((child) => {
		const connections = context.getConnections(child, 'main').flat();
		const isNext = connections.some((from) => from?.node === name && from.index === index);
		// n8n passes the items of a disabled node on.
		return (
			isNext && [child, ...context.getChildNodes(child.name)].some(({ disabled }) => !disabled)
		);
	});
}

function hasConnections(
	context: IExecuteFunctions,
): context is IExecuteFunctions & WithConnections {
	return 'getConnections' in context && typeof context.getConnections === 'function';
}
